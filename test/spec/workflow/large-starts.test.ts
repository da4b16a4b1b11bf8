import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { QueueSteps } from '../../../src/domain/queue/index.js';
import { triggerItem, WorkflowSpec } from '../../support/workflow-spec.js';

const LARGE = 'x'.repeat(2 * 1024 * 1024 + 1);

describe('workflow: a start with a large payload', () => {
  it('lets other commands run while its payload is hashed, and is judged afterwards', () => {
    const flow = new WorkflowSpec();
    const { engine, context, journal } = flow.queue;
    const command = { type: 'Publish', items: [triggerItem('r', { body: LARGE })], isTold: false } as const;
    const steps = engine.execute(command, context, (event) => journal.push(event)) as QueueSteps;
    flow.trigger('s');
    expect(flow.news().join()).to.not.include('run r');
    let count = 0;
    while (steps.next().done !== true) count += 1;
    expect(count).to.be.within(2, 10);
    expect(flow.isActive('r')).to.equal(true);
  });

  it('has the same hash as a start without steps', () => {
    const flow = new WorkflowSpec();
    for (const body of [LARGE, 'small']) {
      flow.trigger(`r${body.length}`, { body });
      const hash = createHash('sha256').update(body).digest('base64url');
      expect(flow.all('RunStarted').at(-1)?.payloadHash).to.equal(hash);
    }
  });
});
