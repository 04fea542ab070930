import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { rateLimit } from '@sluice/limiter/adapters/graphql'
import { buildSchema, execute, GraphQLError, parse, validate } from 'graphql'

const schema = buildSchema('type Query { users(first: Int): [User!]! } type User { name: String! }')
const users = ({ first = 10 }) => Array.from({ length: first }, (_, i) => ({ name: `user ${i}` }))

// The cost of an operation: one point for each field, times `first`, `last` or `limit`.
const limit = rateLimit({
  limit: 1_000,
  period: '1m',
  algorithm: 'sliding-window-counter',
  key: ({ user }) => user,
})

async function answer(query = '{ users { name } }', user = 'anybody') {
  const document = parse(query)
  const errors = validate(schema, document)
  if (errors.length > 0) return { errors }
  await limit({ document, context: { user } })
  return execute({ schema, document, rootValue: { users } })
}

const server = createServer(async (request, response) => {
  const { query } = JSON.parse((await text(request)) || '{}')
  const result = await answer(query, request.headers['x-user']?.toString()).catch((error) => ({
    errors: [new GraphQLError(error.message, { originalError: error })],
  }))
  response.setHeader('Content-Type', 'application/json')
  response.end(JSON.stringify(result))
})

server.listen(process.env.PORT ?? 3000, () => console.log(server.address()))
