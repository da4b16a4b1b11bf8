/**
 * Requests while the control state is stale: they wait with their bodies, and are then handled as new ones. Proves
 * FSE6.
 */
import { request as send } from 'node:http';
import { expect } from 'chai';
import { NodeTimers, SystemClock } from '../../../src/adapters/node/index.js';
import { createEndpointServer, type EndpointServer, RequestBodyReader } from '../../../src/edge/http/index.js';
import { DEFAULT_KV_ENDPOINT_LIMITS } from '../../../src/edge/kv/kv-limits.js';
import { ByteBudget } from '../../../src/kernel/index.js';
import { UNWATCHED } from '../../../src/ports/index.js';
import { eventually } from '../../support/eventually.js';

const REFUSAL = { status: 400, text: 'refused' };

interface Told {
  status?: number;
  body?: string;
  error?: string;
}

describe('a request that arrives while the control state is stale', () => {
  const known = { isFresh: true, waiting: [] as (() => void)[] };
  let server: EndpointServer;
  let port: number;
  let handled: string[];

  beforeEach(async () => {
    handled = [];
    known.isFresh = false;
    known.waiting = [];
    const freshness = {
      get isFresh() {
        return known.isFresh;
      },
      untilFresh: () => new Promise<void>((resolve) => known.waiting.push(resolve)),
    };
    const bodies = new RequestBodyReader(new ByteBudget(Number.POSITIVE_INFINITY));
    server = createEndpointServer(
      {
        name: 'kv',
        metrics: UNWATCHED,
        limits: DEFAULT_KV_ENDPOINT_LIMITS,
        clock: new SystemClock(),
        timers: new NodeTimers(),
        freshness,
      },
      {
        handle: (request, response) => {
          handled.push(request.url ?? '');
          bodies.read({ request, response }, '', 1 << 30, (outcome) => {
            const length = outcome.kind === 'whole' ? outcome.body.length : -1;
            response.end(`${known.isFresh ? 'judged' : 'too late'} ${length}`);
          });
        },
        connectRefusal: REFUSAL,
        allowedMethods: 'GET',
        protocolRefusal: () => REFUSAL,
        acceptFailed: () => {},
        drain: () => {},
      },
    );
    port = (await server.listen(0, '127.0.0.1')).port;
  });
  afterEach(() => server.close(AbortSignal.timeout(1)));

  function ask(path: string, body?: Buffer): { told: Told; leave(): void } {
    const told: Told = {};
    const sent = send({ port, path, method: body === undefined ? 'GET' : 'POST' }, (response) => {
      told.status = response.statusCode ?? 0;
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => {
        told.body = text;
      });
    });
    sent.on('error', (error) => {
      told.error = error.message;
    });
    sent.end(body);
    return { told, leave: () => sent.destroy() };
  }

  function knownAgain(): void {
    known.isFresh = true;
    for (const goOn of known.waiting.splice(0)) goOn();
  }

  it('is handled once it is fresh, with its body of any size', async () => {
    const bodies = [undefined, Buffer.alloc(10), Buffer.alloc(3_000_000)];
    const asked = bodies.map((body, at) => ask(`/${at}`, body).told);
    await eventually(() => expect(known.waiting).to.have.length(3));
    expect(handled).to.deep.equal([]);
    knownAgain();
    await eventually(() =>
      expect(asked.map(({ body }) => body)).to.deep.equal(['judged 0', 'judged 10', 'judged 3000000']),
    );
  });

  it('is handled after the maximum wait, and gets the error of a stale control state', async () => {
    const { told } = ask('/late', Buffer.alloc(100));
    await eventually(() => expect(known.waiting).to.have.length(1));
    for (const goOn of known.waiting.splice(0)) goOn();
    await eventually(() => expect(told.body).to.equal('too late 100'));
  });

  it('is forgotten when its client has gone', async () => {
    const { leave, told } = ask('/gone');
    await eventually(() => expect(known.waiting).to.have.length(1));
    leave();
    await eventually(() => expect(told.error).to.be.a('string'));
    knownAgain();
    const { told: other } = ask('/other');
    await eventually(() => expect(other.body).to.equal('judged 0'));
    expect(handled.filter((path) => path === '/other')).to.have.length(1);
  });
});
