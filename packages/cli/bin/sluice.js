#!/usr/bin/env node
import { main } from '../dist/main.js'

process.exitCode = await main(process.argv.slice(2), process)
// What nobody reads would keep the process.
if (process.stdout.writableLength + process.stderr.writableLength > 0) process.exit()
