import { expect } from 'chai';
import { KvBench, readable } from '../../support/kv-bench.js';
import { type KvCase, NOW, wordsOf } from '../../support/kv-case.js';

/** Runs a test for each case; each also proves that the effects replay to the same keyspace. */
export function describeCases(subject: string, cases: readonly KvCase[]): void {
  describe(subject, () => {
    for (const kvCase of cases) {
      it(kvCase.title, () => {
        const bench = new KvBench();
        for (const line of kvCase.given) bench.line(line);
        const { reply, effects } = bench.line(kvCase.when);
        const { then } = kvCase;
        if (typeof then === 'function')
          expect(then(readable(reply)), `reply ${String(readable(reply))}`).to.equal(true);
        else expect(readable(reply)).to.deep.equal(then);
        if (kvCase.effects !== undefined) {
          expect(effects).to.deep.equal(
            kvCase.effects.map((line) =>
              wordsOf(line, NOW)
                .map((w) => w || "''")
                .join(' '),
            ),
          );
        }
        bench.expectReplayed();
      });
    }
  });
}
