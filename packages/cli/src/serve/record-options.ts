import type { ServeOptionRows } from './option-row.ts'

/** Settings of the file of what was asked. */
export const RECORD_OPTIONS: ServeOptionRows = {
  record: {
    kind: 'text',
    value: 'FILE',
    help: 'writes what is asked and answered to this file, to be replayed; addresses and attributes as hashes',
    see: 'record.md',
    to: (file) => ({ record: { file } }),
  },
  'record-size': {
    kind: 'number',
    value: 'MB',
    help: 'megabytes of the record after which a new file begins; 100 where it is not said',
    see: 'record.md',
    to: (megabytes) => ({ record: { megabytes } }),
  },
  'record-files': {
    kind: 'number',
    value: 'N',
    help: 'files of the record that are kept; 5 where it is not said',
    see: 'record.md',
    to: (files) => ({ record: { files } }),
  },
  'record-plain': {
    kind: 'list',
    value: 'NAME',
    help: 'what the record has as it is: ip, an attribute, or a key of descriptors',
    see: 'record.md#what-it-holds',
    to: (plain) => ({ record: { plain } }),
  },
}
