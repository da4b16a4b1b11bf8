/**
 * The places of numbers are part of files and snapshots that later releases read, so new ones are added at the end.
 */
import { expect } from 'chai';
import { KV_PLACES, LATENCY_CLASSES, QUEUE_PLACES, SEARCH_PLACES } from '../../../../src/projections/stats/metrics.js';

describe('places of numbers in the statistics', () => {
  it('never move', () => {
    expect(LATENCY_CLASSES).to.equal(15);
    expect(Object.values(KV_PLACES).slice(0, 11)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 24]);
    expect(Object.values(QUEUE_PLACES).slice(0, 17)).to.deep.equal(Array.from({ length: 17 }, (_, at) => at));
    expect(Object.values(SEARCH_PLACES).slice(0, 13)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 24, 39, 54]);
  });

  it('belong to fixed metrics', () => {
    expect(KV_PLACES).to.include({ commands: 0, scripts: 2, misses: 4, bytesOut: 6, writeMicros: 8 });
    expect(QUEUE_PLACES).to.include({ requests: 0, apiBytes: 5, cancelled: 12, runsCanceled: 16 });
    expect(SEARCH_PLACES).to.include({ queries: 0, reranks: 2, rerankMicros: 8 });
  });
});
