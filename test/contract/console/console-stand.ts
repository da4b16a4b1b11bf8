/**
 * The console's routes on the management port, over the real decider in memory; planes record the requests that reach
 * them.
 */
import type { Middleware } from 'koa';
import { ManagementGrants } from '../../../src/actors/control/index.js';
import { createConsoleHandler, SignInGuard } from '../../../src/edge/index.js';
import { MillraceError } from '../../../src/kernel/index.js';
import { UNWATCHED } from '../../../src/ports/index.js';
import type { ManagementAnswer } from '../../support/management-endpoint.js';
import { type Caller, ManagementHarness } from '../../support/management-endpoint.js';
import { ManualTime } from '../../support/memory/index.js';

/** A request that arrived at an endpoint. */
export interface Passed {
  readonly plane: string;
  readonly method: string;
  readonly url: string;
  readonly token: string;
  readonly raw: readonly string[];
  readonly body: string;
}

export interface SignedIn {
  readonly cookie: string;
  readonly csrf: string;
  readonly shown: Record<string, unknown>;
  readonly answer: ManagementAnswer;
}

export class ConsoleStand extends ManagementHarness {
  readonly passed: Passed[] = [];
  readonly files = new Map<string, Buffer>();
  static readonly FAILURES = 3;
  isSecure = false;
  static readonly SESSION_MS = 3_600_000;

  constructor() {
    let handler: Middleware | undefined;
    super({ sessionMs: ConsoleStand.SESSION_MS, mount: [(context, next) => handler?.(context, next) ?? next()] });
    const stand = this;
    const time = new ManualTime();
    handler = createConsoleHandler({
      access: new ManagementGrants({
        state: this.control.state,
        requireFresh: () => {
          if (this.isControlStale) throw new MillraceError('CONTROL_STALE', 'no word from control');
        },
      }),
      control: this.control,
      sealing: () => this.sealing,
      clock: { nowMs: () => this.control.nowMs, monotonicMs: () => 0 },
      random: this.random,
      log: this.log,
      publicUrls: { search: 'https://console.example' },
      planes: { kv: this.#plane('kv'), queue: this.#plane('queue'), search: this.#plane('search') },
      changesDocuments: (command) => command !== 'search',
      readFile: async (path) => this.files.get(path),
      sessionMs: ConsoleStand.SESSION_MS,
      signIns: new SignInGuard(
        { clock: time, timers: time, log: this.log, metrics: UNWATCHED },
        ConsoleStand.FAILURES,
      ).of('console'),
      get isSecure() {
        return stand.isSecure;
      },
      isDraining: () => false,
      isOperator: ({ account }) => account === this.ownerAccount,
    });
  }

  async signIn(as: Caller = this.owner): Promise<SignedIn> {
    const answer = await this.call('POST', '/console/api/session', { as: null, body: as });
    const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
    const shown = answer.json as Record<string, unknown>;
    return { cookie, csrf: String(shown?.csrf), shown, answer };
  }

  /** Sends a request with the headers of the console's own page. */
  asPage(
    { cookie, csrf }: Pick<SignedIn, 'cookie' | 'csrf'>,
    method: string,
    path: string,
    body?: unknown,
    more: Record<string, string> = {},
  ): Promise<ManagementAnswer> {
    return this.call(method, path, { as: null, body, headers: { cookie, 'millrace-csrf': csrf, ...more } });
  }

  #plane(plane: string): Middleware {
    return async (context) => {
      const { url, token, body, rawHeaders } = context.state.passed;
      const { method } = context;
      this.passed.push({ plane, method, url, token, raw: rawHeaders, body: body.toString() });
      context.body = `"from ${plane}"`;
    };
  }
}
