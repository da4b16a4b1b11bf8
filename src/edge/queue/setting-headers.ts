/** What the OpenAPI document says of the headers that set how a message is delivered. Source: docs/guide/message-settings.md. */
import { HTTP_METHODS, OPTION_NAMES } from '../../domain/queue/index.js';
import {
  type ApiParameter,
  FLAG,
  HEADERS_GIVEN,
  headerParameter,
  type JsonSchema,
  TEXT,
  WHOLE,
  wordOf,
} from '../http/openapi/parts.js';

type OptionName = (typeof OPTION_NAMES)[number];

const DURATION: JsonSchema = { ...TEXT, examples: ['50s', '1d10h30m'] };

const OPTIONS: Readonly<Record<OptionName, readonly [about: string, schema: JsonSchema]>> = {
  method: ['Of the call to the destination; left out: POST.', wordOf(HTTP_METHODS)],
  delay: ['A duration before the first attempt.', DURATION],
  'not-before': ['Seconds since 1970; a delay beside it is not looked at.', WHOLE],
  retries: ['Attempts after the first one; left out: 3, or what the account allows.', WHOLE],
  'retry-delay': ['An expression, in milliseconds.', { ...TEXT, examples: ['pow(2, retried) * 1000'] }],
  timeout: ['A duration that an attempt may take.', DURATION],
  'header-forward': ['All headers of the call are sent to the destination.', FLAG],
  callback: ['Who is told what a delivery came to: a URL.', TEXT],
  'failure-callback': ['Who is told when the last attempt has failed: a URL.', TEXT],
  'deduplication-id': ['What came with this id lately is not accepted again.', TEXT],
  'content-based-deduplication': ['Destination, body and forwarded headers make such an id.', FLAG],
  'flow-control-key': ['What shares it shares rate and parallelism.', TEXT],
  'flow-control-value': [
    'How many at once, and how many in a period.',
    { ...TEXT, examples: ['parallelism=10, rate=5, period=1m'] },
  ],
  label: ['Words by which logs are filtered, separated by commas.', TEXT],
  'redact-fields': ['What logs do not show: body, header, header[Name].', TEXT],
  'queue-name': ['The queue that messages of a schedule go through.', TEXT],
  cron: ['When a schedule ticks: five fields, or a word such as @daily.', { ...TEXT, examples: ['*/5 * * * *'] }],
  'schedule-id': ['Of the schedule that is made or changed; left out: a new one.', TEXT],
};

const OF_SCHEDULES: readonly OptionName[] = ['cron', 'schedule-id', 'queue-name'];

/** Names that a list of parameters cannot hold. */
export const OTHER_HEADERS =
  '`Svc-Forward-<Name>` is sent to the destination as `<Name>`; `Svc-Callback-<Option>` and `Svc-Failure-Callback-<Option>` set how the callbacks are delivered. Each option may stand in the query, too.';

export const MESSAGE_HEADERS = headersFor(OPTION_NAMES.filter((name) => !OF_SCHEDULES.includes(name)));
export const SCHEDULE_HEADERS = headersFor(OPTION_NAMES);
/** Headers of a message in a body of many. */
export const HEADER_MEMBERS: JsonSchema = {
  ...HEADERS_GIVEN,
  description: 'As the headers of a publish: settings, and what is forwarded.',
};

function headersFor(names: readonly OptionName[]): readonly ApiParameter[] {
  return names.map((name) => headerParameter(headerName(name), ...OPTIONS[name]));
}

function headerName(option: OptionName): string {
  return `Svc-${option.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())}`;
}
