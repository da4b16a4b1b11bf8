/** The published search client, unmodified, against a real process. */
import { endEverything, type MillraceProcess, startMillrace } from '../../support/millrace-process.js';
import { describeSearchClient } from '../../support/search-client-program.js';
import { createSearchDatabase, SEARCH_ENVIRONMENT, type SearchDatabase } from '../../support/search-process.js';

describe('search indexes: published client', function () {
  this.timeout(60_000);
  let process: MillraceProcess | undefined;
  let database: SearchDatabase | undefined;
  after(endEverything);

  describeSearchClient(async () => {
    process ??= await startMillrace({ env: SEARCH_ENVIRONMENT });
    database ??= await createSearchDatabase(process, 'films');
    return database;
  });
});
