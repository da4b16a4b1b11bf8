/** The metrics of requests over real connections: by Node's server and without it. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { NodeTimers, PromMetrics, SystemClock } from '../../../../src/adapters/node/index.js';
import type { HttpRequest, HttpResponse } from '../../../../src/edge/http/exchange.js';
import { createEndpointServer, type EndpointServer } from '../../../../src/edge/http/index.js';
import { foundRoute } from '../../../../src/edge/http/request-metrics.js';
import { DEFAULT_KV_ENDPOINT_LIMITS } from '../../../../src/edge/kv/kv-limits.js';
import { eventually } from '../../../support/eventually.js';

const REFUSAL = { status: 405, text: 'no' };

for (const takesPlain of [true, false]) {
  describe(`requests in the metrics, ${takesPlain ? 'plain ones' : "by Node's server"}`, () => {
    let metrics: PromMetrics;
    let server: EndpointServer;
    let address: { readonly port: number };

    beforeEach(async () => {
      metrics = new PromMetrics({ withProcess: false });
      const handle = (request: HttpRequest, response: HttpResponse) => {
        if (request.url?.startsWith('/known') === true) foundRoute(request, '/known/:id');
        if (request.url === '/known/silent') return;
        response.writeHead(201, { 'Content-Length': 2 });
        response.end('ok');
      };
      const parts = { name: 'kv', metrics, limits: DEFAULT_KV_ENDPOINT_LIMITS, clock: new SystemClock() };
      server = createEndpointServer(
        { ...parts, timers: new NodeTimers() },
        {
          handle,
          connectRefusal: REFUSAL,
          allowedMethods: 'GET',
          protocolRefusal: () => REFUSAL,
          acceptFailed: () => {},
          drain: () => {},
          ...(takesPlain && { handlePlain: handle }),
        },
      );
      address = await server.listen(0, '127.0.0.1');
    });
    afterEach(() => server.close(AbortSignal.abort()));

    const ask = async (path: string) => {
      const socket = connect(address.port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      return socket;
    };
    const page = async () => (await metrics.page()).text;

    it('have route, status and time; an unknown path has no route', async () => {
      for (const path of ['/known/1', '/known/2', '/elsewhere']) {
        const socket = await ask(path);
        await once(socket, 'data');
        socket.destroy();
      }
      await eventually(async () => {
        const text = await page();
        expect(text).to.contain('millrace_http_requests_total{face="kv",route="/known/:id",status="201"} 2');
        expect(text).to.contain('millrace_http_requests_total{face="kv",route="none",status="201"} 1');
        expect(text).to.contain('millrace_http_request_seconds_count{face="kv",route="/known/:id"} 2');
        expect(text).to.contain('millrace_connections{face="kv"} 0');
      });
      expect(await page()).not.to.contain('elsewhere');
    });

    it('have status 499 when the client leaves before the answer', async () => {
      const socket = await ask('/known/silent');
      await eventually(async () => expect(await page()).to.contain('millrace_connections{face="kv"} 1'));
      socket.destroy();
      await eventually(async () =>
        expect(await page()).to.contain('millrace_http_requests_total{face="kv",route="/known/:id",status="499"} 1'),
      );
    });
  });
}
