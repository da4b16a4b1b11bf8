/**
 * Documents that are added, changed and removed: the results of a query follow from the current ones alone. Proves
 * NI1–NI3, HD1, HD2, RA3.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { repetitions } from '../../../support/depth.js';
import { SearchStand } from '../../../support/search-stand.js';

const QUERIES = ['alpha', 'alpha beta', 'gam', 'betta', 'delta 3', 'text', 'epsilon gamma alpha', '3'];
const WORDS = ['alpha', 'beta', 'gamma', 'gamut', 'delta', 'epsilon', '3', 'betas'];

function answers(stand: SearchStand) {
  return QUERIES.flatMap((text) =>
    [0, 0.5, 1].map((semanticWeight) =>
      stand.search(text, { semanticWeight, topK: 100, reranking: semanticWeight === 0.5 }),
    ),
  );
}

describe('an index with changing documents', () => {
  it('finds the existing documents, as if they had been added together in any order', () => {
    const texts = fc.array(fc.constantFrom(...WORDS), { maxLength: 6 }).map((words) => words.join(' '));
    const ids = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const steps = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('put' as const), id: ids, text: texts }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), id: ids }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep' as const) }) },
    );
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 40 }), (history) => {
        const lived = new SearchStand();
        const model = new Map<string, string>();
        for (const step of history) {
          if (step.kind === 'sweep') lived.sweep();
          else if (step.kind === 'remove') expect(lived.index.remove(step.id)).to.equal(model.delete(step.id));
          else {
            lived.putTexts({ [step.id]: step.text });
            model.delete(step.id);
            model.set(step.id, step.text);
          }
        }
        const fresh = new SearchStand();
        fresh.putTexts(Object.fromEntries([...model].reverse()));
        expect(answers(lived)).to.deep.equal(answers(fresh));
        expect([lived.index.size, lived.index.bytes]).to.deep.equal([fresh.index.size, fresh.index.bytes]);
      }),
      { numRuns: repetitions(150) },
    );
  });

  it('reuses ordinals after a sweep, and forgets unused words', () => {
    const stand = new SearchStand();
    const fill = (round: number) => {
      for (let at = 0; at < 2000; at += 1) stand.putTexts({ [`d${at}`]: `round${round} number${at}` });
    };
    fill(0);
    expect(stand.index.needsSweep).to.equal(false);
    for (let round = 1; round <= 5; round += 1) {
      fill(round);
      expect(stand.index.needsSweep).to.equal(true);
      stand.sweep();
      expect(stand.index.needsSweep).to.equal(false);
    }
    expect(stand.index.size).to.equal(2000);
    expect(stand.index.ordinals).to.be.at.most(4000);
    expect(stand.index.vocabulary.size).to.equal(1 + 1 + 2000);
    expect(stand.ids('round5', { semanticWeight: 0 })).to.have.length(10);
    expect(stand.ids('number7', { semanticWeight: 0, topK: 1 })).to.deep.equal(['d7']);
  });

  it('may be swept while documents come and go', () => {
    const stand = new SearchStand();
    for (let at = 0; at < 20_000; at += 1)
      stand.putTexts({ [`d${at}`]: `common words that all of them have and word${at % 5000}` });
    for (let at = 0; at < 10_000; at += 1) stand.index.remove(`d${at}`);
    let pauses = 0;
    for (const _ of stand.index.sweep()) {
      stand.putTexts({ [`new${pauses}`]: `common fresh${pauses}` });
      stand.index.remove(`d${10_000 + pauses}`);
      pauses += 1;
    }
    expect(pauses).to.be.greaterThan(0);
    expect(stand.ids('fresh0', { semanticWeight: 0, topK: 1 })).to.deep.equal(['new0']);
    expect(stand.search('common', { semanticWeight: 0, topK: 1000 })).to.have.length(1000);
    expect(stand.index.size).to.equal(10_000);
  });

  it('answers from one state when documents change during a search', () => {
    const stand = new SearchStand();
    for (let at = 0; at < 60_000; at += 1) stand.putTexts({ [`d${at}`]: `common words of a document ${at % 100}` });
    stand.putTexts({ best: 'common words of all documents' });
    let pauses = 0;
    const hits = stand.search('common words of all documents', { topK: 5 }, () => {
      if (pauses === 0) {
        stand.putTexts({ best: 'another text', newer: 'common words of all documents' });
      }
      pauses += 1;
    });
    expect(pauses).to.be.greaterThan(0);
    expect(hits[0]?.id).to.equal('newer');
    expect(hits.map(({ id }) => id)).to.not.include('best');
  });

  it('ends a search while documents keep changing', () => {
    const stand = new SearchStand();
    for (let at = 0; at < 60_000; at += 1) stand.putTexts({ [`d${at}`]: `common words of a document ${at % 100}` });
    let changes = 0;
    const hits = stand.search('common words of a document', { topK: 5 }, () => {
      stand.putTexts({ d7: `changed ${changes}` });
      changes += 1;
    });
    expect(changes).to.be.greaterThan(0);
    expect(hits).to.have.length(5);
    expect(hits.map(({ id }) => id)).to.not.include('d7');
  });
});
