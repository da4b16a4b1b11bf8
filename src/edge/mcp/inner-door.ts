/**
 * Calls of tools for one person, with a session of that person in this process.
 *
 *  MCD1 data is reached as the console reaches it: with the rights of the person's session, and with a line in the
 *       audit log for each change, stored before the change
 */
import { CSRF_HEADER } from '../sessions/page-requests.js';
import { SESSION_COOKIE_NAME } from '../sessions/sealed-sessions.js';
import type { InnerServer } from './inner-server.js';
import type { ApiDoor, ApiRequest, Operation } from './tools/index.js';

/** A session of the caller, which never leaves the process. */
export interface InnerSession {
  readonly text: string;
  readonly csrf: string;
  /** The client's address. */
  readonly address: string;
}

const PLANES = '/console/api';
const PIPELINE = '/pipeline';
/** Answers about databases and queues that have more bytes hold no first one. */
const MAX_LOOK_CHARACTERS = 1024 * 1024;

export class InnerDoor implements ApiDoor {
  constructor(
    private readonly server: InnerServer,
    private readonly session: InnerSession,
  ) {}

  async send({ area, method }: Operation, { target, headers, body, id, signal }: ApiRequest): Promise<Response> {
    const call = (path: string, sent = body) => this.#call({ method, path, headers, body: sent, signal });
    switch (area) {
      case 'kv': {
        const database = `${PLANES}/kv/${encodeURIComponent(id ?? (await this.#firstOf('/v2/kv/databases', signal)))}`;
        // The console runs pipelines; one command is a pipeline of one.
        return target === '/' ? single(await call(database + PIPELINE, `[${body ?? ''}]`)) : call(database + target);
      }
      case 'queue':
        return call(`${PLANES}/queue/${await this.#firstOf('/v2/msgq/users', signal)}${target}`);
      case 'search':
      case 'vector':
        return call(`${PLANES}${target}`);
      default:
        return call(target);
    }
  }

  #call(asked: { method: string; path: string; headers: Headers; body: string | undefined; signal: AbortSignal }) {
    const { text, csrf, address } = this.session;
    const headers = new Headers(asked.headers);
    headers.set('cookie', `${SESSION_COOKIE_NAME}=${encodeURIComponent(text)}`);
    headers.set(CSRF_HEADER, csrf);
    return this.server.send({ ...asked, headers, address });
  }

  /** The id of the account's first database or queue. @throws Error if there is none, or the caller may not see it */
  async #firstOf(path: string, signal: AbortSignal): Promise<string> {
    const answer = await this.#call({ method: 'GET', path, headers: new Headers(), body: undefined, signal });
    const text = await answer.text();
    if (!answer.ok || text.length > MAX_LOOK_CHARACTERS)
      throw new Error(`GET ${path}: ${answer.status} ${text.slice(0, 200)}`);
    const [first] = JSON.parse(text) as { readonly database_id?: string; readonly id?: string }[];
    const id = first?.database_id ?? first?.id;
    if (id === undefined) throw new Error(`GET ${path}: the account has none`);
    return id;
  }
}

/** The answer of a pipeline of one command as the answer of this command. */
async function single(answer: Response): Promise<Response> {
  if (!answer.ok || answer.body === null) return answer;
  const { headers } = answer;
  const text = await answer.text();
  const own = text.trim().replace(/^\[/, '').replace(/\]$/, '');
  return new Response(own, { status: own.startsWith('{"error"') ? 400 : 200, headers });
}
