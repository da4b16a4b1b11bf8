/**
 * A client that sends calls where a balancer says and logs each result. After a refused connection the call goes to
 * the next process. A request that has been sent is never sent again, because it may have been executed.
 */
import { KvClient, NOTHING_HAPPENED, type RawAnswer, type RequestParts } from '../kv-client.js';
import type { Backend, Entrance } from './balancer.js';
import { type LoadOutcome, nowMs, type OutcomeLog } from './outcomes.js';
import { expectFromProcess } from './real-balancer.js';

export interface BalancedOptions {
  readonly balancer: Entrance;
  readonly log: OutcomeLog;
  readonly face: 'kv' | 'queue';
  readonly token: string;
  readonly shard: string;
  /** The index of the preferred process, used if all processes are ready. */
  readonly home: number;
}

/** The time limit of a call, longer than a server waits for its own or a forwarded call. */
const TIMEOUT_MS = 20_000;
const CODE_CHARACTERS = 90;

export class BalancedClient extends KvClient {
  readonly #clients = new Map<string, KvClient>();
  #home: number;

  constructor(private readonly balanced: BalancedOptions) {
    super({ url: '', token: balanced.token });
    this.#home = balanced.home;
  }

  override async raw(path: string, parts: RequestParts = {}): Promise<RawAnswer> {
    const { balancer, log, shard } = this.balanced;
    const verb = verbOf(path, parts);
    const calledAtMs = nowMs();
    const tried = new Set<Backend>();
    const note = (through: string, kind: LoadOutcome['kind'], code = ''): void =>
      log.add({ verb, shard, through, calledAtMs, tookMs: nowMs() - calledAtMs, kind, code });
    let refusal: Error = new Error('there is no process');
    for (;;) {
      const backend = balancer.pick(this.#home, tried);
      if (backend === undefined) {
        note('', 'refused', 'nobody listens');
        throw Object.assign(refusal, { code: 'ECONNREFUSED' });
      }
      try {
        const answer = await this.#clientOf(backend).raw(path, parts);
        expectFromProcess(answer);
        const kind = kindOf(answer);
        if (kind !== 'done') this.#home += 1;
        note(backend.name, kind, kind === 'done' ? '' : codeOf(answer));
        return answer;
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        balancer.leave(backend);
        if (code !== 'ECONNREFUSED') {
          note(backend.name, 'unknown', code ?? message);
          throw error;
        }
        tried.add(backend);
        refusal = error as Error;
      }
    }
  }

  override close(): void {
    super.close();
    for (const client of this.#clients.values()) client.close();
  }

  /** Clients are kept by address, so a process that restarts on other ports gets a new client. */
  #clientOf({ process }: Backend): KvClient {
    const { face, token } = this.balanced;
    const url = process.addresses[face] as string;
    const known = this.#clients.get(url) ?? new KvClient({ url, token, connections: 32, timeoutMs: TIMEOUT_MS });
    this.#clients.set(url, known);
    return known;
  }
}

function kindOf({ status, body }: RawAnswer): LoadOutcome['kind'] {
  if (status < 400) return 'done';
  if (status < 500) return status === 404 ? 'done' : 'refused';
  return status === 503 && NOTHING_HAPPENED.test(body.toString('utf8')) ? 'refused' : 'unknown';
}

function codeOf({ status, body }: RawAnswer): string {
  return `${status} ${body.toString('utf8').slice(0, CODE_CHARACTERS)}`;
}

function verbOf(path: string, { method, body }: RequestParts): string {
  if (path === '/') return String((JSON.parse(String(body)) as unknown[])[0]);
  if (path === '/multi-exec') return 'MULTI';
  return `${method ?? 'GET'} ${path.split('/').slice(1, 3).join('/').split('?')[0]}`;
}
