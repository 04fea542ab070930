import { blockLua } from '../../core/decide/block/block.lua.ts'

/** How scripts know blocks: their formulas, and a program that keeps their states. Without any: nothing to call. */
export const blocksLua: string = `${blockLua}
local blockProgram = { load = loadCells, save = saveCells, form = BLOCK_FORM, size = BLOCK_SIZE }
`
export const noBlocksLua = 'local blockProgram, blockedFor, countRefusal, blockOver'

/** Blocks a key: ARGV is the time or nothing, and for how many microseconds (0 ends the block). */
export const setBlockLua: string = `
local ticks, c = args[2] + 0, loadCells(KEYS[1], BLOCK_FORM)
local now = instantOf(c)
if ticks > 0 or not c.absent then
  setBlock(c, now, ticks)
  c[1] = now
  saveCells(KEYS[1], c, expiry({ unit = 1 }, now, blockOver(c, now), 0), BLOCK_FORM, BLOCK_SIZE)
end
return { at, 1 }
`
