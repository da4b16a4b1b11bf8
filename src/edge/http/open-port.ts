/** Opens the port of an endpoint. */
import { listenError } from '../../kernel/index.js';

export interface Listener {
  listen(port: number, host: string): Promise<{ readonly port: number }>;
}

/** @param variable the setting with the port. @returns the actual port. @throws BAD_CONFIG */
export async function listenOn(endpoint: Listener, host: string, port: number, variable: string): Promise<number> {
  try {
    return (await endpoint.listen(port, host)).port;
  } catch (cause) {
    throw listenError(variable, hostAndPort(host, port), cause);
  }
}

/** Host and port as in a URL. */
export function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
