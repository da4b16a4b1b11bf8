/** A client of one endpoint of the public HTTP API, with one token. */
export class Api {
  constructor(
    private readonly url: string,
    private readonly token: string,
    private readonly scheme: 'Bearer' | 'Basic' = 'Bearer',
  ) {}

  /** @param body a text unchanged, other values as JSON. @throws RefusedAnswer for any status but 2xx */
  async ask(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) {
    const answer = await fetch(this.url + path, {
      method,
      headers: { ...headers, authorization: `${this.scheme} ${this.token}` },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new RefusedAnswer(`${method} ${path}: ${answer.status} ${text}`, answer.status);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  }
}

export class RefusedAnswer extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}
