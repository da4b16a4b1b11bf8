/** Calls the management API as a script would, to create the data that a page shows. */
export interface MgmtAnswer {
  readonly status: number;
  readonly json: unknown;
}

export interface ManagementAsk {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** @param credentials e-mail address and key, separated by a colon */
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
