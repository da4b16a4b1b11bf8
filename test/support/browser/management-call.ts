/** The management API as a script would call it, to fill what a page then shows. */
export interface MgmtAnswer {
  readonly status: number;
  readonly json: unknown;
}

export interface ManagementAsk {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** @param credentials e-mail and key, with a colon between */
export async function managementCall(
  url: string,
  credentials: string,
  { method, path, body }: ManagementAsk,
): Promise<MgmtAnswer> {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, json: text === '' ? undefined : JSON.parse(text) };
}
