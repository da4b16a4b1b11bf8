/** What processes say of themselves when they are asked over the bus ↔ bytes. */
import { bothWays, versioned } from '../../kernel/schema/index.js';
import { processReport } from '../../messages/index.js';

export const [encodeProcessReport, decodeProcessReport] = bothWays(
  versioned(1, processReport),
  'what a process says of itself',
  'INVALID',
);
