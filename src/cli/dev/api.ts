/** A client of one endpoint of the public HTTP API, with one value of the header `Authorization`. */
export class Api {
  constructor(
    private readonly url: string,
    /** Undefined: for calls without credentials. */
    private readonly authorization?: string,
  ) {}

  /** @param body a text unchanged, other values as JSON. @throws RefusedAnswer for any status but 2xx */
  async ask(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) {
    const text = await this.text(method, path, body, headers);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  }

  /** The same with the answer as it is. */
  async text(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const answer = await fetch(this.url + path, {
      method,
      headers: { ...headers, ...(this.authorization !== undefined && { authorization: this.authorization }) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new RefusedAnswer(`${method} ${path}: ${answer.status} ${text}`, answer.status);
    return text;
  }
}

export function bearer(token: string): string {
  return `Bearer ${token}`;
}

export function basic(email: string, key: string): string {
  return `Basic ${Buffer.from(`${email}:${key}`).toString('base64')}`;
}

export class RefusedAnswer extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}
