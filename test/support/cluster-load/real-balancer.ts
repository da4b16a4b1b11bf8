/**
 * Runs haproxy, with the configuration that operators get, in front of the processes of a stand. Some clients connect
 * through it; their results are logged under its name.
 *
 *  RBL1 haproxy's own error pages are evaluated: 503 means that no process was reachable, any other that a sent
 *       request got no answer
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../eventually.js';
import { freePort } from '../free-port.js';
import type { RawAnswer } from '../kv-client.js';
import { type MillraceProcess, temporaryDirectory } from '../millrace-process.js';
import type { Backend, Entrance } from './balancer.js';

const CONFIGURATION = 'infra/balancer/haproxy.cfg';
/** The ports of the configuration, and the endpoint that each one serves. */
const FACES: Readonly<Record<string, string>> = { 7100: 'kv', 7200: 'queue', 7300: 'mgmt', 6380: 'resp' };
const NO_SERVER = 503;

export class RealBalancer implements Backend, Entrance {
  readonly name = 'haproxy';
  readonly isReady = true;

  private constructor(
    private readonly child: ChildProcess,
    readonly process: Pick<MillraceProcess, 'addresses' | 'metricsUrl'>,
  ) {}

  /** @param processes in the order of the configuration @returns undefined if haproxy is not installed */
  static async start(processes: readonly MillraceProcess[]): Promise<RealBalancer | undefined> {
    if (spawnSync('haproxy', ['-v']).error !== undefined) return undefined;
    const addresses: Record<string, string> = {};
    for (const face of Object.values(FACES)) addresses[face] = `http://127.0.0.1:${await freePort()}`;
    const file = join(await temporaryDirectory(), 'haproxy.cfg');
    await writeFile(file, configured(await readFile(CONFIGURATION, 'utf8'), addresses, processes));
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'haproxy', '-db', '-f', file], { stdio: 'ignore' });
    const { metricsUrl } = processes[0] as MillraceProcess;
    await eventually(() => fetch(addresses.kv as string));
    return new RealBalancer(child, { addresses, metricsUrl });
  }

  /** Returns haproxy itself: haproxy retries another process without help from the client. */
  pick(_home: number, tried: ReadonlySet<Backend>): Backend | undefined {
    return tried.has(this) ? undefined : this;
  }

  leave(): void {}

  close(): void {
    this.child.kill('SIGKILL');
  }
}

/** RBL1. @throws the error that a socket to the process itself would have raised */
export function expectFromProcess({ status, headers }: RawAnswer): void {
  if (status < 500 || !String(headers['content-type']).startsWith('text/html')) return;
  const error = new Error(`haproxy says ${status}`);
  throw status === NO_SERVER ? Object.assign(error, { code: 'ECONNREFUSED' }) : error;
}

/** The configuration file with addresses of this machine. */
function configured(text: string, addresses: Record<string, string>, processes: readonly MillraceProcess[]): string {
  const portOf = (url: string | undefined): string => new URL(url as string).port;
  return text
    .replaceAll(/bind :(\d+) .*/g, (_, port: string) => `bind 127.0.0.1:${portOf(addresses[FACES[port] as string])}`)
    .replaceAll(/millrace-(\d):(\d+) (check)?/g, (_, number: string, port: string, check?: string) => {
      const { addresses: own, metricsUrl } = processes[Number(number) - 1] as MillraceProcess;
      const address = `127.0.0.1:${portOf(own[FACES[port] as keyof typeof own])}`;
      return `${address} ${check === undefined ? '' : `check port ${portOf(metricsUrl)}`}`;
    });
}
