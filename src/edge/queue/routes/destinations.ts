/** `/v2/destinations`: failing destinations of the account, and the rules of their circuit breakers. */
import { BREAKER_STATES, MAX_DLQ_COUNT } from '../../../domain/queue/index.js';
import { BREAKERS_FORMAT_LEVEL, calledUrl, type DlqId } from '../../../kernel/index.js';
import { membersOf } from '../../http/checked.js';
import { parseJson } from '../../http/json-items.js';
import { queryParameter, record, TEXT, wordOf } from '../../http/openapi/parts.js';
import { invalid } from '../../http/refused.js';
import { DONE_ANSWER, shows } from '../answer-schemas.js';
import { queryParameters, statesIn } from '../call-filters.js';
import { refuseNotUrl } from '../publish-items.js';
import { type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { destinationRecord, RULE_MEMBERS } from '../records/destination-record.js';
import { breakerRulesIn, destinationIn } from '../requests/destination-request.js';

const OF_LIST: ReadonlySet<string> = new Set(['state']);
const STATES = new Map(BREAKER_STATES.map((state) => [state.toUpperCase(), [state]]));
const NO_OVERRIDES = { headers: [], query: [] };
const URL_BODY = record({ url: { ...TEXT, description: 'A query and a fragment are ignored.' } });
const ENABLED = record(
  { url: { ...TEXT, description: 'A query and a fragment are ignored.' } },
  { retry: { type: 'boolean', description: 'True: its DLQ entries are sent again, too.' } },
);

export const DESTINATION_ROUTES: readonly QueueRoute[] = [
  queueRoute('GET /v2/destinations', {
    summary: 'Lists destinations that fail or are stopped, the latest change first, and the rules of breakers.',
    permission: 'read',
    parameters: [queryParameter('state', 'Several are or-ed.', wordOf(BREAKER_STATES))],
    answer: shows('DestinationList'),
    async handle(call) {
      const states = statesIn(queryParameters(call.words.rest, OF_LIST), STATES);
      const { rules, breakers } = await call.ask({ type: 'ListBreakers', onlyStopped: false }, 'Breakers');
      const shown = states.length === 0 ? breakers : breakers.filter(({ state }) => states.includes(state));
      const end = rules === undefined ? ']}' : `],"rules":${JSON.stringify(rules)}}`;
      await call.list(['{"destinations":[', end], shown, destinationRecord);
    },
  }),

  queueRoute('POST /v2/destinations/rules', {
    summary: 'Sets the rules of circuit breakers; without rules no destination is stopped.',
    permission: 'change',
    bodyShape: { of: record({}, RULE_MEMBERS) },
    example: { failures: 10, seconds: 60, messages: 'wait' },
    answer: DONE_ANSWER,
    async handle(call) {
      if (call.endpoint.parts.formatLevel() < BREAKERS_FORMAT_LEVEL) {
        throw invalid(`breakers need format level ${BREAKERS_FORMAT_LEVEL}: run millrace cluster upgrade`);
      }
      const rules = breakerRulesIn(bodyOf(call));
      if (rules.notifyUrl !== undefined) refuseNotUrl(call, rules.notifyUrl);
      await call.ask({ type: 'SetBreakerRules', rules }, 'Done');
      call.done();
    },
  }),

  queueRoute('DELETE /v2/destinations/rules', {
    summary: 'Switches circuit breakers off: all destinations get their messages again.',
    permission: 'change',
    answer: DONE_ANSWER,
    async handle(call) {
      await call.ask({ type: 'SetBreakerRules', rules: undefined }, 'Done');
      call.done();
    },
  }),

  queueRoute('POST /v2/destinations/disable', {
    summary: 'Stops a destination until it is enabled.',
    permission: 'change',
    bodyShape: { of: URL_BODY },
    example: { url: 'https://example.com/orders' },
    answer: DONE_ANSWER,
    async handle(call) {
      await call.ask({ type: 'SetBreaker', url: calledUrl(destinationIn(bodyOf(call)).url), isDisabled: true }, 'Done');
      call.done();
    },
  }),

  queueRoute('POST /v2/destinations/enable', {
    summary: 'Forgets the failures of a destination: it gets its messages again.',
    permission: 'publish',
    bodyShape: { of: ENABLED },
    example: { url: 'https://example.com/orders', retry: true },
    answer: shows('DestinationEnabled'),
    async handle(call) {
      const { url: given, isRetried } = destinationIn(bodyOf(call));
      const url = calledUrl(given);
      await call.ask({ type: 'SetBreaker', url, isDisabled: false }, 'Done');
      call.value(200, { retried: isRetried ? await retryDlqOf(call, url) : 0 });
    },
  }),
];

function bodyOf(call: QueueCall): ReadonlyMap<string, unknown> {
  return membersOf(parseJson(call.body));
}

/** Page by page, as often as there are entries from before the call. @returns the number of retried messages */
async function retryDlqOf(call: QueueCall, url: string): Promise<number> {
  const { host, protocol, port, hostname, pathname } = new URL(url);
  const named = port === '' ? `${hostname}:${protocol === 'https:' ? 443 : 80}` : host;
  const filter = { host: [named], path: [pathname], toMs: call.endpoint.parts.clock.nowMs() };
  let after: DlqId | undefined;
  let retried = 0;
  do {
    const selector = { kind: 'filter', filter, count: MAX_DLQ_COUNT, after, order: 'earliestFirst' } as const;
    const firstId = call.newMessageId();
    const page = await call.ask({ type: 'RetryDlq', selector, firstId, overrides: NO_OVERRIDES }, 'DlqRetried');
    retried += page.results.length;
    after = page.after;
  } while (after !== undefined);
  return retried;
}
