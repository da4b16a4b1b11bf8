/**
 * The destinations of the simulated queue and the network to them. The host name selects a behaviour: slow, silent or
 * failing. Answers can be lost after the destination has handled the call.
 */
import { setMaxListeners } from 'node:events';
import type { AttemptOutcome, HeaderList } from '../../src/domain/queue/index.js';
import type { MessageId, ShardName } from '../../src/kernel/index.js';
import type { CallOutcome, HttpOut, OutgoingCall } from '../../src/ports/index.js';
import type { Scheduler } from './scheduler.js';
import type { SeededRandom } from './seeded-random.js';
import type { SimProcess } from './sim-process.js';

/** The caller: one activation of a shard. */
export interface Caller {
  readonly process: SimProcess;
  readonly shard: ShardName;
  readonly epoch: number;
}

/** A call as the destination received it. */
export interface Call {
  readonly caller: Caller;
  readonly id: MessageId;
  readonly retried: number;
  readonly url: string;
  readonly body: Uint8Array;
  /** The status of the answer, even if the caller did not receive it. */
  status: number | undefined;
  /** True while the connection is open at both ends. */
  isOpen: boolean;
}

export interface DestinationFaults {
  /** The request is lost. */
  readonly lost: number;
  /** The request is handled and the answer is lost. */
  readonly answerLost: number;
}

const LATENCY_MS = { low: 0.2, high: 4 };
const SLOW_MS = { low: 300, high: 3000 };

export class SimDestinations {
  readonly calls: Call[] = [];
  /** Called at the start of each call. */
  onCall: (call: Call) => void = () => {};
  /** Called for each open call of an ended activation. */
  onOutlived: (call: Call) => void = () => {};
  private faults: DestinationFaults;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly random: SeededRandom,
    faults: DestinationFaults,
  ) {
    this.faults = faults;
  }

  /** From now on no answer is lost. */
  endFaults(): void {
    this.faults = { lost: 0, answerLost: 0 };
  }

  outOf(caller: Caller): HttpOut {
    return {
      send: (call) => this.send(caller, call),
      refusalOf: () => undefined,
      close: async () => {},
    };
  }

  /** Records the end of an activation. */
  ended(caller: Caller): void {
    for (const call of this.calls) if (call.caller === caller && call.isOpen) this.onOutlived(call);
  }

  private send(caller: Caller, { headers, url, body, timeoutMs, signal }: OutgoingCall): Promise<CallOutcome> {
    const id = headerOf(headers, 'Svc-Message-Id') as MessageId;
    const call: Call = {
      caller,
      id,
      retried: Number(headerOf(headers, 'Svc-Retried')),
      url,
      body: new Uint8Array(body),
      status: undefined,
      isOpen: !signal.aborted,
    };
    if (signal.aborted) return Promise.resolve({ kind: 'interrupted' });
    // Each call of the activation adds a listener, so the warning limit is off.
    setMaxListeners(0, signal);
    const { scheduler } = this;
    const { process } = caller;
    const startedMs = scheduler.nowMs;
    scheduler.trace.note(process.name, `calls ${url} for ${id.slice(0, 10)} retried ${call.retried}`);
    this.calls.push(call);
    this.onCall(call);
    return new Promise((resolve) => {
      const end = (outcome: CallOutcome) => {
        call.isOpen = false;
        timer.cancel();
        signal.removeEventListener('abort', interrupt);
        resolve(outcome);
      };
      const interrupt = () => end({ kind: 'interrupted' });
      const durationMs = () => Math.round(scheduler.nowMs - startedMs);
      const timer = scheduler.at(startedMs + timeoutMs, process, 'timer', 'call timed out', () =>
        end({ kind: 'no-response', error: 'timed out', durationMs: durationMs() }),
      );
      signal.addEventListener('abort', interrupt);
      if (this.random.chance(this.faults.lost)) return;
      const handled = scheduler.nowMs + this.latencyMs() + this.workMs(url);
      scheduler.at(handled, undefined, 'message', `${url} handles`, () => {
        // The answer is computed even for a closed call, because the request may have arrived before.
        const answer = this.answerOf(url);
        if (answer === undefined) return;
        call.status = answer.status;
        call.isOpen = false;
        if (this.random.chance(this.faults.answerLost)) return;
        scheduler.at(scheduler.nowMs + this.latencyMs(), process, 'message', 'response', () =>
          end({ kind: 'response', ...answer, isCut: false, durationMs: durationMs() }),
        );
      });
    });
  }

  private latencyMs(): number {
    return this.random.between(LATENCY_MS.low, LATENCY_MS.high);
  }

  private workMs(url: string): number {
    return url.includes('//slow') ? this.random.between(SLOW_MS.low, SLOW_MS.high) : this.latencyMs();
  }

  /** @returns undefined if the destination never answers */
  private answerOf(url: string): Pick<AttemptOutcome & { kind: 'response' }, 'status' | 'header' | 'body'> | undefined {
    const answer = (status: number, header: HeaderList = []) => ({ status, header, body: Buffer.from(`${status}`) });
    if (url.includes('//dead')) return answer(500);
    if (url.includes('//deaf')) return undefined;
    if (url.includes('//final')) return answer(489, [['Svc-NonRetryable-Error', 'true']]);
    if (url.includes('//flaky')) return answer(this.random.chance(0.5) ? 503 : 200);
    return answer(200);
  }
}

function headerOf(headers: HeaderList, name: string): string {
  return headers.find(([other]) => other === name)?.[1] ?? '';
}
