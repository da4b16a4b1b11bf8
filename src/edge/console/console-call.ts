/** A call of a page, and its only ways to an answer: JSON, or a data plane of this process. */
import type { SealedSecret } from '../../domain/control/index.js';
import { assert } from '../../kernel/index.js';
import type { ManagementGrant } from '../../ports/index.js';
import { SHARED_REFUSALS } from '../error-map.js';
import { PRIVATE_HEADERS } from '../http/answer.js';
import { answer, type PipelineContext } from '../http/application.js';
import { RefusedRequest } from '../http/refused.js';
import { type Route, routesOf } from '../http/route.js';
import type { Right } from '../team-permissions.js';
import type { ConsoleEndpoint, ConsoleParts } from './console-endpoint.js';

export interface ConsoleState {
  /** Undefined for routes that need no session. */
  grant?: ManagementGrant;
}

/** A call of a data plane, as a client with the token would send it. */
interface PlaneCall {
  readonly url: string;
  readonly token: SealedSecret;
  readonly body: Buffer;
}

/** Headers of the page's browser that the data plane does not need. */
const OF_THE_PAGE = /^(cookie|authorization|origin|referer|millrace-csrf|expect|transfer-encoding|sec-.*)$/;

export class ConsoleCall {
  constructor(
    readonly endpoint: ConsoleEndpoint,
    readonly context: PipelineContext<ConsoleState>,
  ) {}

  get grant(): ManagementGrant {
    const { grant } = this.context.state;
    assert(grant !== undefined, 'a call without a session');
    return grant;
  }

  get body(): Buffer {
    const { body } = this.context.state;
    assert(body !== undefined, 'a call whose body was not read');
    return body;
  }

  /** With its question mark, or ''. */
  get query(): string {
    const { url = '' } = this.context.req;
    const mark = url.indexOf('?');
    return mark < 0 ? '' : url.slice(mark);
  }

  json(value: object, more: Readonly<Record<string, string>> = {}): void {
    const headers = { ...PRIVATE_HEADERS, ...more };
    const isLast = this.endpoint.parts.isDraining();
    answer(this.context, { status: 200, text: JSON.stringify(value), headers, isLast });
  }

  /** The plane answers on the page's own context. */
  async pass(plane: keyof ConsoleParts['planes'], { url, token, body }: PlaneCall): Promise<void> {
    const { context, endpoint } = this;
    if (context.res.destroyed) return;
    const { planes, sealing } = endpoint.parts;
    const rawHeaders = withoutThoseOfThePage(context.req.rawHeaders);
    context.state.passed = { url, token: sealing().open(token.sealed), rawHeaders, body };
    context.url = url;
    await planes[plane](context, async () => {
      throw new RefusedRequest(SHARED_REFUSALS.routeNotFound);
    });
  }
}

function withoutThoseOfThePage(rawHeaders: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = rawHeaders.slice(at, at + 2) as [string, string];
    if (!OF_THE_PAGE.test(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}

/** The caller needs the right in the session's account. */
export type ConsoleRoute = Route<ConsoleCall, Right>;
export const consoleRoute = routesOf<ConsoleCall, Right>();
