/**
 * The credentials of each area, from one management key: tokens of databases, of the queue and of indexes are read from the
 * management API when they are first needed. Without the right to change, only read-only tokens are used, so the server
 * itself refuses changes.
 */
import type { ApiDoor, ApiRequest, Area, Json, Operation } from '../../edge/mcp/tools/index.js';

/** A token may be replaced while the program runs. */
const KEEP_MS = 60_000;

export interface ManagementLogin {
  readonly url: string;
  /** The header: of a management key, or of a session (`millrace login`). */
  readonly authorization: string;
}

export class AreaTokens implements ApiDoor {
  readonly #tokens = new Map<string, { readonly token: string; readonly untilMs: number }>();

  constructor(
    private readonly management: ManagementLogin,
    private readonly mayChange: boolean,
    private readonly nowMs: () => number,
  ) {}

  async send({ area, method, base }: Operation, { target, headers, body, id, signal }: ApiRequest): Promise<Response> {
    headers.set('authorization', await this.#authorization(area, id));
    return fetch(base + target, { method, headers, signal, redirect: 'error', ...(body !== undefined && { body }) });
  }

  /**
   * @param id of the database or index; undefined: the first database
   * @returns the header `Authorization`. @throws Error if the management API refuses, or shows no token
   */
  async #authorization(area: Area, id: string | undefined): Promise<string> {
    switch (area) {
      case 'kv': {
        const [standard, readOnly] = ['rest_token', 'read_only_rest_token'];
        const path = id === undefined ? '/v2/kv/databases' : `/v2/kv/database/${encodeURIComponent(id)}`;
        return this.#bearer(path, this.mayChange ? standard : readOnly);
      }
      case 'queue':
        return this.#bearer('/v2/msgq/user', this.#field);
      case 'search':
        return this.#bearer(`/v2/search/${encodeURIComponent(id ?? '')}`, this.#field);
      case 'vector':
        return this.#bearer(`/v2/vector/index/${encodeURIComponent(id ?? '')}`, this.#field);
      default:
        return this.management.authorization;
    }
  }

  get #field(): string {
    return this.mayChange ? 'token' : 'read_only_token';
  }

  async #bearer(path: string, field: string | undefined): Promise<string> {
    const known = this.#tokens.get(path);
    if (known !== undefined && known.untilMs > this.nowMs()) return `Bearer ${known.token}`;
    const { url, authorization } = this.management;
    const answer = await fetch(url + path, { headers: { authorization } });
    if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
    const found = (await answer.json()) as Json | readonly Json[];
    const [owner] = Array.isArray(found) ? found : [found];
    const token = owner?.[field ?? ''];
    if (typeof token !== 'string' || token === '') {
      throw new Error(`GET ${path} shows no ${field}: the management key may not see secrets, or the account has none`);
    }
    this.#tokens.set(path, { token, untilMs: this.nowMs() + KEEP_MS });
    return `Bearer ${token}`;
  }
}
