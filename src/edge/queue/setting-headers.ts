/** OpenAPI descriptions of the headers that configure a delivery. Source: docs/guide/message-settings.md. */
import { HTTP_METHODS, MESSAGES_WHEN_STOPPED, OPTION_NAMES, PRIORITIES } from '../../domain/queue/index.js';
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
  'not-before': ['Seconds since 1970; takes precedence over a delay.', WHOLE],
  retries: ['Attempts after the first one; by default 3, or the limit of the account.', WHOLE],
  'retry-delay': ['An expression, in milliseconds.', { ...TEXT, examples: ['pow(2, retried) * 1000'] }],
  timeout: ['A duration that an attempt may take.', DURATION],
  'header-forward': ['All headers of the call are sent to the destination.', FLAG],
  callback: ['The URL that gets the result of a delivery.', TEXT],
  'failure-callback': ['The URL that gets the failure of the last attempt.', TEXT],
  'deduplication-id': ['A further message with this id is not accepted for ten minutes.', TEXT],
  'content-based-deduplication': ['Destination, body and forwarded headers make such an id.', FLAG],
  'flow-control-key': ['Messages with the same key share rate and parallelism.', TEXT],
  'flow-control-value': [
    'The limits of parallel calls and of calls per period.',
    { ...TEXT, examples: ['parallelism=10, rate=5, period=1m'] },
  ],
  label: ['Words by which logs are filtered, separated by commas.', TEXT],
  'redact-fields': [
    'The fields that logs hide: body, header, header[Name]; of answers: response-body, response-header, response-header[Name].',
    TEXT,
  ],
  priority: ['The class within its queue or flow-control key; left out: normal.', wordOf(PRIORITIES)],
  'when-stopped': [
    'While the destination is stopped by its breaker; left out: by the rules of breakers.',
    wordOf(MESSAGES_WHEN_STOPPED),
  ],
  'queue-name': ['The queue that messages of a schedule go through.', TEXT],
  cron: ['When a schedule ticks: five fields, or a word such as @daily.', { ...TEXT, examples: ['*/5 * * * *'] }],
  'schedule-id': ['Of the schedule that is made or changed; left out: a new one.', TEXT],
};

const OF_SCHEDULES: readonly OptionName[] = ['cron', 'schedule-id', 'queue-name'];

/** Header names with a variable part, which a list of parameters cannot express. */
export const OTHER_HEADERS =
  '`Svc-Forward-<Name>` is sent to the destination as `<Name>`; `Svc-Callback-<Option>` and `Svc-Failure-Callback-<Option>` set how the callbacks are delivered. Each option may stand in the query, too.';

export const MESSAGE_HEADERS = headersFor(OPTION_NAMES.filter((name) => !OF_SCHEDULES.includes(name)));
export const SCHEDULE_HEADERS = headersFor(OPTION_NAMES);
/** Headers of a message inside a batch. */
export const HEADER_MEMBERS: JsonSchema = {
  ...HEADERS_GIVEN,
  description: 'Headers as in a publish: settings, and headers to forward.',
};

function headersFor(names: readonly OptionName[]): readonly ApiParameter[] {
  return names.map((name) => headerParameter(headerName(name), ...OPTIONS[name]));
}

function headerName(option: OptionName): string {
  return `Svc-${option.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())}`;
}
