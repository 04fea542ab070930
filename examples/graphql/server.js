import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { rateLimit } from '@sluice/limiter/adapters/graphql'
import { buildSchema, execute, GraphQLError, parse, validate } from 'graphql'

const schema = buildSchema('type Query { users(first: Int = 10): [User!]! } type User { name: String! }')
const users = ({ first }) => Array.from({ length: first }, (_, i) => ({ name: `user ${i}` }))

// What an operation asks for is what it costs: a point for each field, times `first`, `last` or `limit`.
const limit = rateLimit({ limit: 1_000, period: '1m', key: ({ user }) => user })

async function answer(query, user) {
  try {
    const document = parse(query)
    const errors = validate(schema, document)
    if (errors.length > 0) return { errors }
    await limit({ document, context: { user } })
    return await execute({ schema, document, rootValue: { users } })
  } catch (error) {
    return { errors: [new GraphQLError(error.message, { originalError: error })] }
  }
}

const server = createServer(async (request, response) => {
  const { query } = JSON.parse((await text(request)) || '{ "query": "{ users { name } }" }')
  response.setHeader('Content-Type', 'application/json')
  response.end(JSON.stringify(await answer(query, request.headers['x-user'] ?? 'anybody')))
})

server.listen(process.env.PORT ?? 3000, () => {
  console.log(`http://127.0.0.1:${server.address().port}`)
})
