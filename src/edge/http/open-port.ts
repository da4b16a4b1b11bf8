/** Opening the port of a face. */
import { listenError } from '../../kernel/index.js';

export interface Listener {
  listen(port: number, host: string): Promise<{ readonly port: number }>;
}

/** @param variable the setting that the port is from. @returns the real one. @throws BAD_CONFIG */
export async function listenOn(face: Listener, host: string, port: number, variable: string): Promise<number> {
  try {
    return (await face.listen(port, host)).port;
  } catch (cause) {
    throw listenError(variable, hostAndPort(host, port), cause);
  }
}

/** Both stand so in a URL. */
export function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
