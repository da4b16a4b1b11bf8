/** Commands that send messages to the queue. Their options have the texts of the HTTP calls. */
import { type KvCase, kvCase } from '../../../support/kv-case.js';
import { wrongArity } from './texts.js';

const URL = 'https://shop.example/mail';
const isId = (prefix: string) => (reply: unknown) => String(reply).startsWith(prefix);
const refused = (text: string) => `-ERR queue: ${text}`;

/** The options of each command, as a line, and the reason for which the queue refuses it. */
const REFUSED: readonly (readonly [line: string, reason: string])[] = [
  [`QUEUE.PUBLISH ${URL} a DELAY soon`, 'svc-delay must be a duration, such as 50s or 1d10h30m'],
  [`QUEUE.PUBLISH ${URL} a RETRIES`, 'option RETRIES has no value'],
  [`QUEUE.PUBLISH ${URL} a RETRIES -1`, 'svc-retries must be a whole number, 0 or more'],
  [`QUEUE.PUBLISH ${URL} a HEADER x-shop`, 'option HEADER needs a name and a value'],
  [`QUEUE.PUBLISH ${URL} a QUEUE a/b`, 'queue name may have letters, digits, hyphens, underscores and periods only'],
  [`QUEUE.PUBLISH ${URL} a DEDUP a:b`, "DeduplicationId cannot contain ':'"],
  [
    `QUEUE.PUBLISH ${URL} a CALLBACK nowhere`,
    'svc-callback: invalid callback url: endpoint has invalid scheme, add http:// or https://',
  ],
  [`QUEUE.PUBLISH ${URL} a LATER 5s`, '"LATER" is no option'],
  [`QUEUE.PUBLISH ${URL} a RUN r`, 'only QUEUE.TRIGGER starts a run'],
  [
    'QUEUE.PUBLISH ftp://shop.example a',
    'invalid destination url: endpoint has invalid scheme, add http:// or https://',
  ],
  ['QUEUE.PUBLISH http://forbidden.example a', 'invalid destination url: forbidden'],
  ['QUEUE.TRIGGER mails a', 'the destination of a workflow must be a url, not a url group'],
  [`QUEUE.TRIGGER ${URL} a RUN a/b`, 'the workflow run id has "/"; it must not have any of , / \\ ? # %'],
  [`QUEUE.TRIGGER ${URL} a QUEUE q`, 'a run has no queue'],
  [
    `QUEUE.SCHEDULE ${URL} a CRON never`,
    'Invalid cron expression: five fields are expected (minute, hour, day of month, month, day of week), and "never" has 1',
  ],
];

export const QUEUE_CASES: readonly KvCase[] = [
  kvCase('QUEUE.PUBLISH answers the id of the message', [], `QUEUE.PUBLISH ${URL} hello`, isId('msg_')),
  kvCase(
    'QUEUE.PUBLISH accepts the options of the HTTP call',
    [],
    `queue.publish ${URL} hello header X-Shop one delay 5s queue mails dedup order-1 flow-control-key k flow-control-value rate=1 label a`,
    isId('msg_'),
  ),
  kvCase('QUEUE.PUBLISH accepts the name of a group', [], 'QUEUE.PUBLISH mails hello RETRIES 2', isId('msg_')),
  kvCase('QUEUE.PUBLISH needs a destination and a body', [], 'QUEUE.PUBLISH a', wrongArity('queue.publish'), []),
  kvCase('QUEUE.TRIGGER answers the id of the run', [], `QUEUE.TRIGGER ${URL} {}`, isId('wfr_')),
  kvCase('QUEUE.TRIGGER accepts the id of the run', [], `QUEUE.TRIGGER ${URL} {} RUN order-1`, 'order-1'),
  kvCase('QUEUE.TRIGGER needs a destination and a body', [], 'QUEUE.TRIGGER a', wrongArity('queue.trigger'), []),
  kvCase(
    'QUEUE.SCHEDULE answers the id of the schedule',
    [],
    ['QUEUE.SCHEDULE', URL, 'tick', 'CRON', '0 8 * * *', 'SCHEDULE-ID', 'report'],
    'report',
  ),
  kvCase('QUEUE.SCHEDULE needs a timetable', [], `QUEUE.SCHEDULE ${URL} tick`, wrongArity('queue.schedule'), []),
  kvCase('QUEUE.NOTIFY answers the id of the first result', [], 'QUEUE.NOTIFY paid {}', isId('msg_')),
  kvCase(
    'QUEUE.NOTIFY refuses an event without a name',
    [],
    ['QUEUE.NOTIFY', '', '{}'],
    refused('the event id is empty'),
    [],
  ),
  kvCase('QUEUE.NOTIFY needs an event and its data', [], 'QUEUE.NOTIFY paid', wrongArity('queue.notify'), []),
  kvCase(
    'a message larger than the account accepts is refused',
    [],
    ['QUEUE.PUBLISH', URL, 'x'.repeat(1_048_577)],
    refused('body is too large, current limit: 1048576 bytes'),
    [],
  ),
  kvCase('FLUSHALL keeps messages that wait for the queue', [`QUEUE.PUBLISH ${URL} hello`], 'FLUSHALL', '+OK'),
  ...REFUSED.map(([line, reason]) => kvCase(`${line} is refused as by HTTP`, [], line, refused(reason), [])),
];
