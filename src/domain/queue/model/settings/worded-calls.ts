/**
 * Calls of the queue as words, for the commands of databases: `<destination> <body> [OPTION value] …`. Options are
 * those of the HTTP calls, judged by the same rules with the same texts.
 */
import {
  asciiUpperCase,
  type ByteString,
  bufferOfBytes,
  bytesOfText,
  type Random,
  type RunId,
  type ScheduleId,
  textOfHeader,
} from '../../../../kernel/index.js';
import type { NewSchedule, OutboxCall, PublishDestination, PublishItem } from '../commands.js';
import { newMessageId, newScheduleId } from '../ids.js';
import type { AccountTerms, CallbackSetting, DeliverySettings, HeaderList } from '../records.js';
import { newRunId, RUN_ID } from '../run-ids.js';
import { parseCron } from './cron.js';
import { type NamedDestination, parseDestination } from './destination.js';
import { nameProblem } from './names.js';
import { parseSettings } from './publish-settings.js';
import { eventIdProblem, newRunIdProblem, runIdProblem } from './run-names.js';
import { OPTION_NAMES } from './setting-options.js';
import type { ParsedSettings, SettingsContext } from './settings-reader.js';
import { codingProblem, RUN_CONTROL, TRIGGER_MARK, triggerHeaders, withoutCodings } from './trigger-headers.js';

export interface CallTerms {
  readonly account: AccountTerms;
  readonly nowMs: number;
  readonly random: Random;
  /** The level of stored formats. */
  readonly formatLevel?: number | undefined;
  /** The reason why a URL must not be called, as far as its text shows it. */
  refusalOf(url: string): string | undefined;
}

export type ParsedCall =
  /** `id`: of the message, run or schedule; for an event, of the first result. */
  | { readonly isOk: true; readonly call: OutboxCall; readonly id: string }
  | { readonly isOk: false; readonly message: string };

type Kind = 'publish' | 'trigger' | 'schedule' | 'notify';

class Refusal {
  constructor(readonly message: string) {}
}

/** Header names by option word. `HEADER`, with a name and a value, gives any other header. */
const HEADER_BY_OPTION: ReadonlyMap<string, string> = new Map([
  ...OPTION_NAMES.map((option) => [option.toUpperCase(), `svc-${option}`] as const),
  ['DEDUP', 'svc-deduplication-id'],
  ['RUN', RUN_ID],
]);
const QUEUE = 'QUEUE';
const CONFIGURATION = 'svc-';
const OF_THE_BODY: ReadonlySet<string> = new Set(['content-type', 'content-encoding']);
/** The publisher's address: a command of a database has none that is stored. */
const NO_ADDRESS = '';

const CALLS: Readonly<Record<Kind, (words: Words, terms: CallTerms) => { call: OutboxCall; id: string }>> = {
  publish,
  trigger,
  schedule,
  notify,
};

/** @param words after the command's name */
export function askedCall(kind: Kind, words: readonly ByteString[], terms: CallTerms): ParsedCall {
  try {
    if (terms.account.state === 'passive') throw new Refusal('the account is suspended');
    const { call, id } = CALLS[kind](wordsOf(words, terms), terms);
    return { isOk: true, call, id };
  } catch (refusal) {
    if (refusal instanceof Refusal) return { isOk: false, message: refusal.message };
    throw refusal;
  }
}

interface Words {
  readonly target: string;
  readonly body: Uint8Array;
  readonly headers: HeaderList;
  readonly queueName: string | undefined;
}

function wordsOf([target = '', content = '', ...options]: readonly ByteString[], { account }: CallTerms): Words {
  const { maxMessageBytes } = account.limits;
  if (content.length > maxMessageBytes) {
    throw new Refusal(`body is too large, current limit: ${maxMessageBytes} bytes`);
  }
  const headers: (readonly [string, ByteString])[] = [];
  let queueName: string | undefined;
  for (let at = 0; at < options.length; ) {
    const word = options[at] as ByteString;
    const option = asciiUpperCase(word);
    const value = options[at + 1];
    if (value === undefined) throw new Refusal(`option ${textOfHeader(word)} has no value`);
    const header = HEADER_BY_OPTION.get(option);
    if (option === 'HEADER') {
      const given = options[at + 2];
      if (given === undefined) throw new Refusal('option HEADER needs a name and a value');
      headers.push([headerName(value), given]);
      at += 3;
      continue;
    }
    at += 2;
    if (header !== undefined) headers.push([header, value]);
    else if (option === QUEUE) queueName = textOfHeader(value);
    else throw new Refusal(`${JSON.stringify(textOfHeader(word))} is no option`);
  }
  return { target: textOfHeader(target), body: bufferOfBytes(content), headers, queueName };
}

/** A header that is no configuration is sent to the destination. */
function headerName(given: ByteString): string {
  const name = textOfHeader(given).toLowerCase();
  return name.startsWith(CONFIGURATION) || OF_THE_BODY.has(name) ? name : `${CONFIGURATION}forward-${name}`;
}

function publish(words: Words, terms: CallTerms): { call: OutboxCall; id: string } {
  const { headers, queueName, target, body } = words;
  refuseRuns(headers);
  if (queueName !== undefined) refuse(nameProblem('queue name', queueName));
  const destination = destinationOf(target);
  const parsed = settingsOf(headers, terms, {
    of: queueName === undefined ? 'publish' : 'enqueue',
    refuses: destination.kind === 'group' ? 'options' : 'callbacks',
  });
  const item: PublishItem = {
    id: newMessageId(terms.random, terms.nowMs),
    destination: checkedDestination(destination, parsed.settings, headers, terms),
    queueName,
    body,
    notBeforeMs: parsed.notBeforeMs,
    deduplication: parsed.deduplication,
    callerIp: NO_ADDRESS,
    isAlias: false,
  };
  return { call: { kind: 'publish', item }, id: item.id };
}

function trigger({ headers: given, queueName, target, body }: Words, terms: CallTerms) {
  if (queueName !== undefined) throw new Refusal('a run has no queue');
  const destination = destinationOf(target);
  if (destination.kind === 'group') throw new Refusal('the destination of a workflow must be a url, not a url group');
  const named = given.find(([name]) => name === RUN_ID)?.[1];
  const runId = named === undefined || named === '' ? newRunId(terms.random) : (textOfHeader(named).trim() as RunId);
  refuse(newRunIdProblem(runId));
  refuse(codingProblem(given));
  const headers = withoutCodings(triggerHeaders({ headers: given, query: [] }, bytesOfText(destination.url), runId));
  const parsed = settingsOf(headers, terms, { of: 'publish', isOfRun: true, refuses: 'options' });
  const item: PublishItem = {
    id: newMessageId(terms.random, terms.nowMs),
    destination: checkedDestination(destination, parsed.settings, headers, terms),
    queueName: undefined,
    body,
    notBeforeMs: parsed.notBeforeMs,
    deduplication: parsed.deduplication,
    callerIp: NO_ADDRESS,
    isAlias: false,
    workflow: { kind: 'trigger', runId, mark: TRIGGER_MARK, isByEndpoint: false, invoker: undefined, depth: 0 },
  };
  return { call: { kind: 'publish', item } as const, id: runId };
}

function schedule({ headers, queueName, target, body }: Words, terms: CallTerms): { call: OutboxCall; id: string } {
  refuseRuns(headers);
  const destination = destinationOf(target);
  const given: HeaderList =
    queueName === undefined ? headers : [...headers, ['svc-queue-name', bytesOfText(queueName)]];
  const parsed = settingsOf(given, terms, {
    of: 'schedule',
    refuses: destination.kind === 'group' ? 'options' : 'callbacks',
  });
  const timetable = parseCron(parsed.cron ?? '');
  if (!timetable.isOk) throw new Refusal(timetable.message);
  const made: NewSchedule = {
    id: (parsed.scheduleId as ScheduleId | undefined) ?? newScheduleId(terms.random),
    cron: timetable.cron,
    destination: checkedDestination(destination, parsed.settings, given, terms),
    queueName: parsed.queueName,
    body,
    callerIp: NO_ADDRESS,
    isAlias: false,
  };
  return { call: { kind: 'schedule', schedule: made }, id: made.id };
}

/** As in the path of `/v2/notify`: if the first of several segments is the id of a run, the rest is the event id. */
function notify({ headers, queueName, target, body }: Words, terms: CallTerms): { call: OutboxCall; id: string } {
  if (headers.length > 0 || queueName !== undefined) throw new Refusal('an event has no options');
  const slash = target.indexOf('/');
  const isEventAlone = slash < 0 || (slash === target.length - 1 && !target.startsWith('wfr_'));
  const run = isEventAlone ? '' : target.slice(0, slash);
  const runId = runIdProblem(run) === undefined ? (run as RunId) : undefined;
  const eventId = runId === undefined ? target : target.slice(slash + 1);
  refuse(eventIdProblem(eventId));
  const firstId = newMessageId(terms.random, terms.nowMs);
  return { call: { kind: 'notify', eventId, runId, firstId, content: body }, id: firstId };
}

function refuseRuns(headers: HeaderList): void {
  if (!headers.some(([name]) => name.startsWith(RUN_CONTROL))) return;
  throw new Refusal('only QUEUE.TRIGGER starts a run');
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw new Refusal(problem);
}

function destinationOf(text: string): NamedDestination {
  const outcome = parseDestination(text);
  if (!outcome.isOk) throw new Refusal(outcome.message);
  return outcome.destination;
}

function settingsOf(
  headers: HeaderList,
  { account, nowMs, formatLevel, refusalOf }: CallTerms,
  how: Pick<SettingsContext, 'of' | 'isOfRun' | 'refuses'>,
): ParsedSettings {
  const outcome = parseSettings(
    { headers, query: [] },
    { limits: account.limits, nowMs, ...(formatLevel !== undefined && { formatLevel }), ...how },
  );
  if (!outcome.isOk) throw new Refusal(outcome.message);
  const refuseCallbacks = ({ callback, failureCallback }: DeliverySettings): void => {
    refuseCallback('callback', callback);
    refuseCallback('failure callback', failureCallback);
  };
  const refuseCallback = (role: string, callback: CallbackSetting | undefined): void => {
    if (callback === undefined) return;
    refuseForbidden(role, callback.url, refusalOf);
    refuseCallbacks(callback.settings);
  };
  refuseCallbacks(outcome.parsed.settings);
  return outcome.parsed;
}

function checkedDestination(
  destination: NamedDestination,
  settings: DeliverySettings,
  headers: HeaderList,
  { refusalOf }: CallTerms,
): PublishDestination {
  if (destination.kind === 'group') return { kind: 'group', name: destination.name, raw: { headers, query: [] } };
  refuseForbidden('destination', destination.url, refusalOf);
  return { kind: 'url', url: destination.url, settings };
}

function refuseForbidden(role: string, url: string, refusalOf: CallTerms['refusalOf']): void {
  const reason = refusalOf(url);
  if (reason !== undefined) throw new Refusal(`invalid ${role} url: ${reason}`);
}
