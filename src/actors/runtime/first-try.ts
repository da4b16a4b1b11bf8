/**
 * The first try of a command to an owner in another process. Nearly all commands end with it, so it is made without the
 * state of a `RemoteCall`, which takes over when it does not succeed.
 *
 *  FT1 every outcome except the expected answer is left to the call, with the try as its first one
 *  FT2 one timer serves the first tries of all calls
 */
import { decodeAnswer, encodeRemoteCommand } from '../../codec/remote/index.js';
import { Overdue } from './overdue.js';
import {
  type CallLimits,
  type CallPorts,
  type CommandToOwner,
  FIRST_TRY_MS,
  LARGE_BYTES,
  OF_OLD,
  RemoteCall,
} from './remote-call.js';

/** The promise of a call. */
export interface CallEnd {
  readonly resolve: (answer: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

/** The parts that the calls of a process share. */
export interface CallShared {
  readonly ports: CallPorts;
  readonly limits: CallLimits;
  /** FT2 */
  readonly tries: Overdue<FirstTry>;
}

export function sharedByCalls(ports: CallPorts, limits: CallLimits): CallShared {
  const tries = new Overdue<FirstTry>(ports.clock, ports.timers, FIRST_TRY_MS, (attempt) => attempt.end());
  return { ports, limits, tries };
}

/** @param endMs  on this process's monotonic clock */
export function beginCall(shared: CallShared, asked: CommandToOwner, endMs: number, settle: CallEnd): void {
  const { clock, readings } = shared.ports;
  const { shard, isRead, isPatient, isGone, body } = asked;
  const nowMs = clock.monotonicMs();
  const before = isRead ? undefined : readings.onOwnersClock(shard, endMs);
  const needsCall =
    (!isRead && before === undefined) || isPatient || body.length >= LARGE_BYTES || endMs - nowMs <= FIRST_TRY_MS;
  if (needsCall || isGone?.() === true) {
    new RemoteCall(shared.ports, shared.limits, asked, endMs).run().then(settle.resolve, settle.reject);
    return;
  }
  const attempt = new FirstTry(shared, asked, endMs, settle, before?.epoch);
  const { commandId } = asked;
  attempt.send(encodeRemoteCommand({ commandId, isRetry: false, body, ask: 'command', before }), nowMs);
}

class FirstTry {
  place = -1;
  begunAtMs = 0;
  /** Has taken over. */
  #call: RemoteCall | undefined;

  constructor(
    private readonly shared: CallShared,
    private readonly asked: CommandToOwner,
    private readonly endMs: number,
    private readonly settle: CallEnd,
    /** Of the activation that may begin it; undefined: it is a read. */
    private readonly epoch: number | undefined,
  ) {}

  send(payload: Uint8Array, nowMs: number): void {
    const { ports, limits, tries } = this.shared;
    this.begunAtMs = nowMs;
    tries.add(this);
    const waitMs = this.endMs + Math.max(limits.settleMs, limits.storingMs) - nowMs;
    ports.bus.request({ kind: 'command', shard: this.asked.shard }, payload, waitMs, 'one').then(
      (bytes) => this.#receive(bytes),
      (error: unknown) => this.#leave((call) => call.fail(error, this.epoch)),
    );
  }

  /** No answer came in time. */
  end(): void {
    this.#leave(undefined);
  }

  #receive(bytes: Uint8Array): void {
    const answer = this.#call === undefined ? expectedAnswer(bytes, this.epoch) : undefined;
    if (answer === undefined) {
      this.#leave((call) => call.receive(bytes, 'command', this.epoch));
      return;
    }
    const { tries, ports } = this.shared;
    tries.delete(this);
    if (answer.from !== undefined) ports.readings.hear(this.asked.shard, answer.from);
    this.settle.resolve(answer.body);
  }

  /** FT1 @param tell  passes the outcome on; undefined: there is none yet */
  #leave(tell: ((call: RemoteCall) => void) | undefined): void {
    const { ports, limits, tries } = this.shared;
    if (this.#call !== undefined) {
      tell?.(this.#call);
      return;
    }
    tries.delete(this);
    const call = new RemoteCall(ports, limits, this.asked, this.endMs);
    this.#call = call;
    const leftMs = this.begunAtMs + FIRST_TRY_MS - ports.clock.monotonicMs();
    const earlier = { epoch: this.epoch, waitMs: Math.max(0, leftMs), tell: () => tell?.(call) };
    call.run(earlier).then(this.settle.resolve, this.settle.reject);
  }
}

/** Undefined for a refusal, and for an answer of an activation before the one that was asked. */
function expectedAnswer(bytes: Uint8Array, epoch: number | undefined) {
  let answer: ReturnType<typeof decodeAnswer>;
  try {
    answer = decodeAnswer(bytes);
  } catch {
    return undefined;
  }
  const { from, result } = answer;
  if (!(result instanceof Uint8Array)) return undefined;
  return epoch !== undefined && epoch > (from?.epoch ?? OF_OLD) ? undefined : { from, body: result };
}
