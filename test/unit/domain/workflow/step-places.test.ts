import { expect } from 'chai';
import fc from 'fast-check';
import { findStep, StepPlaces } from '../../../../src/domain/queue/model/runs/step-places.js';
import type { RunEntry } from '../../../../src/domain/queue/runs/index.js';
import { repetitions } from '../../../support/depth.js';
import { mark, message } from '../../../support/workflow-items.js';

const entry = (at: number, stepId?: number, targetStep = 0): RunEntry => ({
  messageId: message(`m${at}`),
  body: { number: 0, bytes: 0 },
  step: stepId === undefined ? undefined : { ...mark(stepId), targetStep },
  createdAtMs: 0,
});

function lookedThrough(entries: readonly RunEntry[], stepId: number, targetStep?: number): RunEntry | undefined {
  return entries
    .slice(1)
    .findLast(({ step }) => step?.stepId === stepId && (targetStep ?? step.targetStep) === step.targetStep);
}

describe('step places', () => {
  it('are the same as in a linear search, for a list of any length', () => {
    const steps = fc.array(fc.tuple(fc.nat(40), fc.nat(3)), { minLength: 1, maxLength: 120 });
    fc.assert(
      fc.property(steps, (all) => {
        const entries = [entry(0)];
        const places = new StepPlaces();
        for (const [at, [stepId, targetStep]] of all.entries()) {
          const [asked, target] = all[(at * 7) % all.length] as [number, number];
          const ofStep = lookedThrough(entries, asked);
          expect([places.find(entries, asked), findStep(entries, asked)]).to.deep.equal([ofStep, ofStep]);
          const ofTarget = lookedThrough(entries, asked, target);
          expect(places.find(entries, asked, target)).to.equal(ofTarget);
          expect(findStep(entries, asked, target)).to.equal(ofTarget);
          entries.push(entry(at + 1, stepId, targetStep));
        }
      }),
      { numRuns: repetitions(200) },
    );
  });

  it('point to the current entry: a repeated delivery has another message', () => {
    const entries = Array.from({ length: 100 }, (_, at) => entry(at, at));
    const places = new StepPlaces();
    expect(places.find(entries, 60)?.messageId).to.equal('m60');
    entries[60] = { ...entry(60, 60), messageId: message('again') };
    expect(places.find(entries, 60)?.messageId).to.equal('again');
    expect(places.find(entries, 0), 'the payload is no step').to.equal(undefined);
    expect(places.find(entries, 7, 1)).to.equal(undefined);
  });
});
