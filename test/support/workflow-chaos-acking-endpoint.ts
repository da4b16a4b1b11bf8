/** An endpoint that acknowledges every delivery and runs no workflow. Runs of its second path fail permanently. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AckingEndpoint {
  readonly url: string;
  /** The URL at which started runs fail; resumed runs succeed. */
  readonly failingUrl: string;
  close(): Promise<void>;
}

/** The pattern of the run ids that clients choose. */
const STARTED = /^wfr_c\d+-\d+$/;

export async function startAckingEndpoint(): Promise<AckingEndpoint> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const runId = String(request.headers['upstash-workflow-runid']);
      const fails = request.url === '/fails' && STARTED.test(runId);
      const headers = { 'Svc-Workflow-Sdk-Version': '1', ...(fails ? { 'Svc-NonRetryable-Error': 'true' } : {}) };
      response.writeHead(fails ? 489 : 200, headers).end('{}');
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/goes`,
    failingUrl: `${origin}/fails`,
    close: async () => {
      const gone = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await gone;
    },
  };
}
