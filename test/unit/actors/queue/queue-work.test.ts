/** The mailbox size of queue commands. */
import { expect } from 'chai';
import { QueueWork } from '../../../../src/actors/queue/index.js';
import type { QueueCommand } from '../../../../src/domain/queue/index.js';
import type { MessageId } from '../../../../src/kernel/index.js';
import { ACCOUNT, messageItem } from '../../../support/queue-shard-stand.js';
import { RUN_ID, STEP } from '../../../support/run-attempts.js';
import { asked, triggerItem } from '../../../support/workflow-spec.js';

const ID = 'msg_1' as MessageId;
const CONTENT = Buffer.alloc(100_000);

function bytesOf(command: QueueCommand): number {
  return new QueueWork(
    ACCOUNT,
    command,
    () => {},
    () => {},
  ).bytes;
}

/** Two commands that differ in one body. */
function difference(commandWith: (content: Uint8Array) => QueueCommand): number {
  return bytesOf(commandWith(CONTENT)) - bytesOf(commandWith(new Uint8Array(0)));
}

describe('the mailbox size of a queue command', () => {
  it('is the size of its bodies', () => {
    expect(difference((body) => ({ type: 'Publish', items: [messageItem(1, 'a', { body })], isTold: false }))).to.equal(
      CONTENT.length,
    );
    expect(
      difference((content) => ({
        type: 'Notify',
        eventId: 'e',
        runId: undefined,
        firstId: ID,
        content,
        isHook: false,
      })),
    ).to.equal(CONTENT.length);
    expect(difference((response) => ({ type: 'EndRun', runId: RUN_ID, how: 'finish', response }))).to.equal(
      CONTENT.length,
    );
  });

  it('includes the texts of a step', () => {
    const wait = (stepText: string, timeoutBody: string | undefined): QueueCommand => ({
      type: 'Wait',
      runId: RUN_ID,
      eventId: 'e',
      resultId: ID,
      step: STEP,
      stepText,
      timeoutText: '1s',
      timeoutSeconds: 1,
      timeoutBody,
      onNotify: asked(),
      onTimeout: asked(),
    });
    expect(bytesOf(wait('x'.repeat(500), 'y'.repeat(300))) - bytesOf(wait('', undefined))).to.equal(800);
    const child = triggerItem('child');
    const invoked = (stepText: string): QueueCommand => {
      const { workflow } = child;
      if (workflow?.kind !== 'trigger') throw new Error('not a trigger');
      const invoker = { runId: RUN_ID, step: STEP, stepText, delivery: asked() };
      return { type: 'Publish', items: [{ ...child, workflow: { ...workflow, invoker } }], isTold: false };
    };
    expect(bytesOf(invoked('x'.repeat(500))) - bytesOf(invoked(''))).to.equal(500);
  });

  it('is small and fixed for a command that consists of names', () => {
    const ending = bytesOf({ type: 'EndRun', runId: RUN_ID, how: 'cancel', response: undefined });
    expect(ending).to.equal(bytesOf({ type: 'ListQueues' }));
    expect(ending).to.be.within(64, 1024);
  });
});
