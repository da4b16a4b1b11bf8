/** A search database of a real process, created through the management API. */
import type { MillraceProcess } from './millrace-process.js';

export const MGMT_EMAIL = 'search@example.com';
export const MGMT_KEY = 'key-of-the-search-tests-0123456789';
/** Settings for `startMillrace`. */
export const SEARCH_ENVIRONMENT = { MILLRACE_MGMT_EMAIL: MGMT_EMAIL, MILLRACE_MGMT_KEY: MGMT_KEY };

export interface SearchDatabase {
  readonly id: string;
  readonly url: string;
  readonly token: string;
  readonly readOnlyToken: string;
}

/** Sends a management request. @throws if the answer is not 200 */
// biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of an answer
export async function manage(process: MillraceProcess, method: string, path: string, body?: unknown): Promise<any> {
  const authorization = `Basic ${Buffer.from(`${MGMT_EMAIL}:${MGMT_KEY}`).toString('base64')}`;
  const answer = await fetch(`${process.addresses.mgmt}${path}`, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

export async function createSearchDatabase(process: MillraceProcess, name: string): Promise<SearchDatabase> {
  return databaseOf(await manage(process, 'POST', '/v2/search', { name, region: 'eu-west-1', type: 'payg' }));
}

/** Converts a database's record; `endpoint` has no scheme. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export function databaseOf({ id, endpoint, token, read_only_token: readOnlyToken }: any): SearchDatabase {
  return { id, url: `http://${endpoint}`, token, readOnlyToken };
}

/** Sends a data command. @returns status and body */
export async function searchCall({ url, token }: SearchDatabase, command: string, body: unknown = []) {
  const answer = await fetch(`${url}/${command}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: as above
  return { status: answer.status, body: (await answer.json()) as any };
}
