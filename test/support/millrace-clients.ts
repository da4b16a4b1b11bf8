/**
 * A real process with every face open, for programs written with the published packages, and the small
 * words such programs share.
 */
import { freePort } from './free-port.js';
import { type Environment, type MillraceProcess, startMillrace } from './millrace-process.js';

/** What the published REST client needs: it spells the product's headers its own way. */
export const WIRE_ALIAS: Environment = { MILLRACE_WIRE_ALIAS: 'Upstash:qstash:redis' };

export type ServedProcess = MillraceProcess & { readonly respPort: number };

/** A process that listens for the native protocol too. */
export async function startServed(env: Environment = {}, dataDir?: string): Promise<ServedProcess> {
  const respPort = await freePort();
  const millrace = await startMillrace({
    env: { ...WIRE_ALIAS, MILLRACE_RESP_PORT: String(respPort), ...env },
    ...(dataDir === undefined ? {} : { dataDir }),
  });
  return { ...millrace, respPort };
}

/** The text of the error that the action ends with. @throws when it does not fail */
export async function failureOf(action: Promise<unknown>): Promise<string> {
  let result: unknown;
  try {
    result = await action;
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`it did not fail: ${JSON.stringify(result)}`);
}
