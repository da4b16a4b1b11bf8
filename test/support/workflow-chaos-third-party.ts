/**
 * The third party that workflows call. For `/<refusals>/<status>/<key>` the first attempts are refused with 503 and
 * later ones get the status. The attempt's number in the request decides, so that a repeated attempt gets the same
 * answer.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Matches headers of runs, which a call must not contain. */
const OF_RUNS = /workflow-(runid|init|url|sdk-version|calltype|createdat|callback)$/;

export class ThirdParty {
  /** The retry numbers of received calls in order, by key. */
  readonly calls = new Map<string, number[]>();
  readonly problems: string[] = [];

  private constructor(private readonly server: Server) {}

  static async listening(): Promise<ThirdParty> {
    const server = createServer();
    const thirdParty = new ThirdParty(server);
    server.on('request', (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const [, refusals, status, key = ''] = (request.url ?? '').split('/');
        const retried = Number(request.headers['upstash-retried']);
        const known = thirdParty.calls.get(key) ?? [];
        known.push(retried);
        thirdParty.calls.set(key, known);
        const body = Buffer.concat(pieces).toString();
        if (body !== key) thirdParty.problems.push(`${key} was called with ${body}`);
        const names = Object.keys(request.headers).filter((name) => OF_RUNS.test(name));
        if (names.length > 0) thirdParty.problems.push(`${key} was called with ${names}`);
        const isRefused = retried < Number(refusals);
        response.writeHead(isRefused ? 503 : Number(status), { 'Content-Type': 'application/json' });
        response.end(JSON.stringify(isRefused ? { refused: key } : { called: key }));
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return thirdParty;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const gone = new Promise((done) => this.server.close(done));
    this.server.closeAllConnections();
    await gone;
  }
}
