/** Bodies of triggers: the members of a new one, and the changes of an existing one. */
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import {
  MAX_TRIGGER_LANES,
  MAX_TRIGGER_OPTIONS,
  MAX_TRIGGER_PATTERNS,
  MAX_TRIGGER_TEXT,
  TRIGGER_ORDERS,
  TRIGGER_VALUES,
  type Trigger,
} from '../../../domain/control/index.js';
import { KEY_EVENTS } from '../../../domain/kv/index.js';
import { parseDestination } from '../../../domain/queue/index.js';
import { checkedMembers } from '../../http/checked.js';
import { invalid } from '../../http/refused.js';

type Changes = Partial<
  Pick<Trigger, 'name' | 'patterns' | 'events' | 'filter' | 'destination' | 'options' | 'values' | 'order' | 'lanes'>
>;

class TriggerChangesRequest {
  @IsOptional()
  @IsString()
  readonly name: string | undefined;

  @IsOptional()
  @MaxLength(MAX_TRIGGER_TEXT, { each: true })
  @IsString({ each: true })
  @ArrayMaxSize(MAX_TRIGGER_PATTERNS)
  @ArrayMinSize(1)
  @IsArray()
  readonly patterns: string[] | undefined;

  @IsOptional()
  @IsIn(KEY_EVENTS, { each: true })
  @ArrayMinSize(1)
  @IsArray()
  readonly events: string[] | undefined;

  @IsOptional()
  @MaxLength(MAX_TRIGGER_TEXT)
  @IsString()
  readonly filter: string | undefined;

  @IsOptional()
  readonly destination: unknown;

  @IsOptional()
  @IsObject()
  readonly options: Readonly<Record<string, unknown>> | undefined;

  @IsOptional()
  @IsIn(TRIGGER_VALUES, { each: true })
  @IsArray()
  readonly values: (typeof TRIGGER_VALUES)[number][] | undefined;

  @IsOptional()
  @IsIn(TRIGGER_ORDERS)
  readonly order: (typeof TRIGGER_ORDERS)[number] | undefined;

  @IsOptional()
  @Max(MAX_TRIGGER_LANES)
  @Min(1)
  @IsInt()
  readonly lanes: number | undefined;
}

class NewTriggerRequest extends TriggerChangesRequest {
  @IsOptional()
  @IsString()
  readonly database: string | undefined;

  @IsOptional()
  @IsString()
  readonly from: string | undefined;
}

/** @throws Refused 400 */
export function newTriggerIn(members: ReadonlyMap<string, unknown>): NewTriggerRequest {
  const request = checkedMembers(NewTriggerRequest, members);
  for (const name of ['patterns', 'events', 'destination'] as const) {
    if (request[name] === undefined) throw invalid(`${name} is required`);
  }
  return request;
}

/** @throws Refused 400 */
export function triggerChangesIn(members: ReadonlyMap<string, unknown>): TriggerChangesRequest {
  return checkedMembers(TriggerChangesRequest, members);
}

/** The given members as the trigger has them. @throws Refused 400 */
export function changesOf(request: TriggerChangesRequest): Changes {
  const { name, patterns, events, filter, destination, options, values, order, lanes } = request;
  const given = {
    name,
    patterns,
    events: events && [...new Set(events)],
    filter: filter?.trim(),
    destination: destination === undefined ? undefined : destinationOf(destination),
    options: options && optionsOf(options),
    values: values && [...new Set(values)],
    order,
    lanes,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Changes;
}

function destinationOf(given: unknown): Trigger['destination'] {
  if (typeof given === 'string') return named(given, '');
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw wrongDestination();
  const { url, group, queue = '', workflow, ...others } = given as Readonly<Record<string, unknown>>;
  const targets = [url, group, workflow].filter((target) => target !== undefined);
  const [target] = targets;
  const isValid = targets.length === 1 && typeof target === 'string' && typeof queue === 'string';
  if (!isValid || Object.keys(others).length > 0) throw wrongDestination();
  if (workflow === undefined) return named(target, queue);
  if (queue !== '') throw invalid('destination: a run has no queue');
  return { kind: 'workflow', target, queue: '' };
}

function named(target: string, queue: string): Trigger['destination'] {
  const outcome = parseDestination(target);
  if (!outcome.isOk) throw invalid(outcome.message);
  return { kind: 'publish', target, queue };
}

function optionsOf(given: Readonly<Record<string, unknown>>): Trigger['options'] {
  const options = Object.entries(given).map(([name, value]) => {
    if (typeof value === 'string' || typeof value === 'number') return { name, value: String(value) };
    throw invalid(`options: ${name} must be a text or a number`);
  });
  if (options.length > MAX_TRIGGER_OPTIONS) throw invalid(`options: must have at most ${MAX_TRIGGER_OPTIONS} members`);
  return options;
}

function wrongDestination() {
  return invalid('destination: must be a URL, the name of a group, {"url"|"group", "queue"} or {"workflow"}');
}
