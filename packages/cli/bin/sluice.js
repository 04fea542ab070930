#!/usr/bin/env node
import { main } from '../dist/main.js'

process.exitCode = await main(process.argv.slice(2), process)
// Output that is not read would keep the process alive.
if (process.stdout.writableLength + process.stderr.writableLength > 0) process.exit()
