import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { REPORT_PAGE } from '../built.ts'
import type { ComparisonFigures } from './comparison-figures.ts'
import type { TrafficFigures } from './traffic-figures.ts'

/**
 * A page that shows the figures: one file, which opens without a network and lets nothing be loaded or sent.
 * @example
 * writeFileSync('report.html', reportPage(figures))
 */
export function reportPage(figures: TrafficFigures | ComparisonFigures): string {
  const [script, styles] = [partOf('report.js'), partOf('report.css')]
  const policy = [
    "default-src 'none'",
    `script-src ${sourceOf(script)}`,
    `style-src ${sourceOf(styles)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>What the limits would do</title>
<style>${styles}</style>
</head>
<body>
<noscript>This page draws its figures with a script of its own.</noscript>
<main id="report"></main>
<script type="application/json" id="figures">${embedded(figures)}</script>
<script>${script}</script>
</body>
</html>
`
}

/** JSON that ends no script: what comes from a log may hold any text. */
function embedded(figures: TrafficFigures | ComparisonFigures): string {
  return JSON.stringify(figures).replaceAll('<', '\\u003c')
}

function partOf(file: string): string {
  return readFileSync(new URL(file, REPORT_PAGE), 'utf8')
}

function sourceOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
