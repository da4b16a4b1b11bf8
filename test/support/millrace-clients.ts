/**
 * A real process with all endpoints, for programs with the published packages, and functions that such programs
 * share.
 */
import { freePort } from './free-port.js';
import { type Environment, type MillraceProcess, startMillrace } from './millrace-process.js';

/** The setting for the published REST client, which uses other header names. */
export const WIRE_ALIAS: Environment = { MILLRACE_WIRE_ALIAS: 'Upstash:qstash:redis' };

export type ServedProcess = MillraceProcess & { readonly respPort: number };

/** Starts a process that also serves RESP. */
export async function startServed(env: Environment = {}, dataDir?: string): Promise<ServedProcess> {
  const respPort = await freePort();
  const millrace = await startMillrace({
    env: { ...WIRE_ALIAS, MILLRACE_RESP_PORT: String(respPort), ...env },
    ...(dataDir === undefined ? {} : { dataDir }),
  });
  return { ...millrace, respPort };
}

/** The error message of an action. @throws if it succeeds */
export async function failureOf(action: Promise<unknown>): Promise<string> {
  let result: unknown;
  try {
    result = await action;
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`it did not fail: ${JSON.stringify(result)}`);
}
