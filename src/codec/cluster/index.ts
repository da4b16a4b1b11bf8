/** Codecs of the reports that processes send over the bus: about themselves, and about requests for trial runs. */
import { bothWays, versioned } from '../../kernel/schema/index.js';
import { processReport, trialReport } from '../../protocol/index.js';

export const [encodeProcessReport, decodeProcessReport] = bothWays(
  versioned(1, processReport),
  'what a process says of itself',
  'INVALID',
);

export const [encodeTrialReport, decodeTrialReport] = bothWays(
  versioned(1, trialReport),
  'a report about a request for a trial run',
  'INVALID',
);
