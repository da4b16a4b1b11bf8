/** SIGTERM to a process with many kept-alive connections: every request is answered. Proves FSE7, RSE3. */
import { expect } from 'chai';
import { BusyClients } from '../../support/busy-clients.js';
import { freePort } from '../../support/free-port.js';
import {
  endEverything,
  type MillraceProcess,
  PASSWORD,
  startMillrace,
  TOKEN,
  temporaryDirectory,
} from '../../support/millrace-process.js';

const QUEUE_TOKEN = 'queue-token-of-the-tests-0123456789';
const CLIENTS_OF_AN_ENDPOINT = 8;
const ENOUGH_ANSWERS = 600;
const RESTARTS = 4;

describe('SIGTERM to a process with busy connections', function () {
  this.timeout(120_000);

  after(() => endEverything());

  it('answers every request on every endpoint, and resets no connection', async () => {
    const counted = new Map<string, number>();
    const dataDir = await temporaryDirectory();
    const env = {
      MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
      MILLRACE_RESP_PORT: String(await freePort()),
    };
    for (let restart = 0; restart < RESTARTS; restart += 1) {
      const millrace = await startMillrace({ dataDir, env });
      const clients = clientsOf(millrace, counted);
      await clients.haveAnswers(ENOUGH_ANSWERS);
      const exited = millrace.kill('SIGTERM');
      await clients.ended();
      expect(await exited).to.deep.equal({ code: 0, signal: null });
      expect(clients.lost).to.deep.equal([]);
    }
  });
});

function clientsOf({ addresses }: MillraceProcess, counted: Map<string, number>): BusyClients {
  const clients = new BusyClients();
  const { kv, queue, mgmt, resp } = addresses as Record<'kv' | 'queue' | 'mgmt' | 'resp', string>;
  const set = { method: 'POST', body: '["SET","k","v"]' };
  const chunked = { ...set, headers: { 'transfer-encoding': 'chunked' } };
  clients.overHttp(CLIENTS_OF_AN_ENDPOINT, { name: 'kv', url: kv, token: TOKEN }, '/', set);
  clients.overHttp(CLIENTS_OF_AN_ENDPOINT, { name: 'kv, by Node', url: kv, token: TOKEN }, '/', chunked);
  clients.overHttp(CLIENTS_OF_AN_ENDPOINT, { name: 'queue', url: queue, token: QUEUE_TOKEN }, '/v2/queues', {});
  clients.overHttp(CLIENTS_OF_AN_ENDPOINT, { name: 'mgmt', url: mgmt, token: '' }, '/nothing', {});
  clients.overResp(CLIENTS_OF_AN_ENDPOINT, { url: resp, password: PASSWORD }, counted);
  return clients;
}
