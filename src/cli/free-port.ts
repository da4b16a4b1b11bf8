/** Finds ports that are free at this moment. */
import { type AddressInfo, createServer } from 'node:net';

/** @throws the error of listening */
export async function listens(host: string, port: number): Promise<void> {
  await tried(host, port);
}

/** Any free port. @throws the error of listening on the host */
export function freePort(host: string): Promise<number> {
  return tried(host, 0);
}

function tried(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(port, host, () => {
      const { port: bound } = probe.address() as AddressInfo;
      probe.close(() => resolve(bound));
    });
  });
}
