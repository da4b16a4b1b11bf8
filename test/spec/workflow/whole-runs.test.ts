import { expect } from 'chai';
import fc from 'fast-check';
import { MAX_RUN_ENTRIES } from '../../../src/domain/queue/runs/index.js';
import { repetitions } from '../../support/depth.js';
import { callsFor, ModelEndpoint, type ModelFunction, type ModelStep, stepsOf } from '../../support/model-endpoint.js';
import { ENDPOINT, WorkflowSpec } from '../../support/workflow-spec.js';

const URLS = [ENDPOINT, 'https://app.example/second', 'https://app.example/third'] as const;
const RUN: ModelStep = { kind: 'run' };
const CALL: ModelStep = { kind: 'call' };
const SLEEP: ModelStep = { kind: 'sleep', seconds: 5 };
const WAIT: ModelStep = { kind: 'wait', eventId: 'nobody tells it', seconds: 30 };
const invoke = (at: 1 | 2): ModelStep => ({ kind: 'invoke', url: URLS[at] });

/** Steps of the function at `level`, which invokes only functions of later levels. */
function stepAt(level: number): fc.Arbitrary<ModelStep> {
  const plain = [
    fc.constant(RUN),
    fc.constant(CALL),
    fc.record({ kind: fc.constant('sleep' as const), seconds: fc.nat(30) }),
    fc.record({ kind: fc.constant('wait' as const), eventId: fc.constant('e'), seconds: fc.nat(60) }),
  ];
  const children = URLS.slice(level + 1).map((url) => fc.constant({ kind: 'invoke' as const, url }));
  return fc.oneof(...plain, ...children);
}

function functionAt(level: number): fc.Arbitrary<ModelFunction> {
  const step = stepAt(level);
  return fc.array(fc.oneof(step, fc.array(step, { minLength: 2, maxLength: 4 })), { maxLength: 4 });
}

const worlds = fc.tuple(functionAt(0), functionAt(1), functionAt(2), fc.array(fc.nat(1000), { minLength: 300 }));

function picker(choices: readonly number[]) {
  let at = 0;
  return (count: number) => {
    at += 1;
    return ((choices[at % choices.length] as number) + Math.floor(at / choices.length)) % count;
  };
}

function functionsOf(...functions: ModelFunction[]): Record<string, ModelFunction> {
  return Object.fromEntries(functions.map((one, at) => [URLS[at] as string, one]));
}

/** Every step of the function ran exactly once, and the list has the entries in the order of their creation. */
function expectWhole(endpoint: ModelEndpoint, functions: Record<string, ModelFunction>, urlOf: (id: string) => string) {
  for (const [runId, list] of endpoint.finished) {
    const { all, announced } = stepsOf(functions[urlOf(runId)] ?? []);
    const marks = list.slice(1).map(({ step }) => step);
    const results = marks.flatMap((step) => (step !== undefined && step.stepId > 0 ? [step.stepId] : []));
    const plans = marks.flatMap((step) => (step !== undefined && step.stepId === 0 ? [step.targetStep] : []));
    expect(
      results.sort((a, b) => a - b),
      `results of ${runId}`,
    ).to.deep.equal(all);
    expect(plans, `announcements of ${runId}`).to.deep.equal(announced);
  }
}

function urls(flow: WorkflowSpec): Map<string, string> {
  return new Map(flow.all('RunStarted').map(({ runId, envelope }) => [runId, envelope.url]));
}

describe('workflow: whole runs', () => {
  for (const [name, steps, calls] of [
    ['three steps', [RUN, RUN, RUN], 4],
    ['steps and sleeps', [RUN, SLEEP, RUN, SLEEP, RUN], 6],
    ['five calls and a sleep', [CALL, CALL, CALL, CALL, CALL, SLEEP], 12],
    ['three calls', [CALL, CALL, CALL], 7],
    ['a call', [CALL], 3],
    ['waits, and calls beside them', [WAIT, RUN, [CALL, WAIT], [CALL, WAIT], WAIT, SLEEP, RUN], 16],
    ['sleeps in a group', [RUN, [RUN, RUN, SLEEP]], 8],
    [
      'a group of one kind after another',
      [
        [RUN, RUN],
        [RUN, RUN],
      ],
      9,
    ],
    ['nothing at all', [], 1],
  ] as const) {
    it(`of ${name}: ${calls} calls of the endpoint`, () => {
      const functions = functionsOf(steps);
      const endpoint = new ModelEndpoint(functions, (count) => count - 1);
      const flow = new WorkflowSpec();
      flow.trigger('r', { maxRetries: 0 });
      endpoint.drive(flow);
      expect(endpoint.deliveries.get('r')).to.equal(calls);
      expect(calls).to.equal(callsFor(steps));
      expect([...endpoint.finished.keys()]).to.deep.equal(['r']);
      expectWhole(endpoint, functions, () => ENDPOINT);
    });
  }

  it('of runs within runs: each endpoint is called as often as needed', () => {
    const functions = functionsOf([invoke(1), [invoke(1), invoke(2)], RUN], [RUN, invoke(2)], [CALL, WAIT]);
    const endpoint = new ModelEndpoint(functions, (count) => count - 1);
    const flow = new WorkflowSpec();
    flow.trigger('r', { maxRetries: 0 });
    endpoint.drive(flow);
    const all = urls(flow);
    expect(all.size).to.equal(6);
    for (const [runId, url] of all) {
      expect(endpoint.deliveries.get(runId), runId).to.equal(callsFor(functions[url] ?? []));
    }
    expectWhole(endpoint, functions, (id) => all.get(id) as string);
  });

  it('of any kind end with the least number of endpoint calls, in any order', () => {
    fc.assert(
      fc.property(worlds, ([first, second, third, choices]) => {
        const functions = functionsOf(first, second, third);
        const endpoint = new ModelEndpoint(functions, picker(choices));
        const flow = new WorkflowSpec();
        flow.trigger('r', { maxRetries: 0 });
        flow.trigger('s', { maxRetries: 0 });
        endpoint.drive(flow);
        const all = urls(flow);
        expect([...endpoint.finished.keys()]).to.have.members([...all.keys()]);
        for (const [runId, url] of all) {
          expect(endpoint.deliveries.get(runId), runId).to.equal(callsFor(functions[url] ?? []));
        }
        for (const [step, count] of endpoint.asked) expect(count, `calls of ${step}`).to.equal(1);
        expectWhole(endpoint, functions, (id) => all.get(id) as string);
        expect(flow.all('RunEnded').filter(({ state }) => state !== 'RUN_SUCCESS')).to.deep.equal([]);
      }),
      { numRuns: repetitions(30) },
    );
  });

  it('end equally when answers are lost and owners die: each step counts once', () => {
    fc.assert(
      fc.property(worlds, ([first, second, third, choices]) => {
        const functions = functionsOf(first, second, third);
        const endpoint = new ModelEndpoint(functions, picker(choices), { faultOneIn: 9, maxRetries: 1000 });
        const begun = new WorkflowSpec();
        begun.trigger('r', { maxRetries: 1000, retryDelay: '100' });
        const flow = endpoint.drive(begun);
        expect([...endpoint.finished.keys()]).to.include('r');
        const urlOf = (id: string) => {
          const step = /\.(\d+)_[^.]*$/.exec(id);
          if (step === null) return ENDPOINT;
          const nodes = (functions[urlOf(id.slice(0, step.index))] ?? []).flat() as ModelStep[];
          const member = nodes[Number(step[1]) - 1];
          return member?.kind === 'invoke' ? member.url : 'no child';
        };
        expectWhole(endpoint, functions, urlOf);
        const children = [...endpoint.finished.keys()].map((id) => id.replace(/_[^.]*$/, ''));
        expect(new Set(children).size, 'a child for each step that invokes').to.equal(children.length);
        const events = [...flow.queue.engine.rebuildingEvents()];
        expect(events.filter(({ type }) => type === 'RunRestored')).to.deep.equal([]);
        for (const event of events) if (event.type === 'MessageRestored') expect(event.status).to.equal('delivered');
      }),
      { numRuns: repetitions(30) },
    );
  });

  it('may be long', () => {
    const steps = Array.from({ length: 600 }, () => RUN);
    const endpoint = new ModelEndpoint(functionsOf(steps), (count) => count - 1);
    const flow = new WorkflowSpec();
    flow.trigger('r');
    endpoint.drive(flow);
    expect(endpoint.finished.get('r')).to.have.length(601);
    expect(MAX_RUN_ENTRIES).to.be.greaterThan(600);
  });
});
