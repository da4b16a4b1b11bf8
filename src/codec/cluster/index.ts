/** Codec of the report that a process gives about itself over the bus. */
import { bothWays, versioned } from '../../kernel/schema/index.js';
import { processReport } from '../../protocol/index.js';

export const [encodeProcessReport, decodeProcessReport] = bothWays(
  versioned(1, processReport),
  'what a process says of itself',
  'INVALID',
);
