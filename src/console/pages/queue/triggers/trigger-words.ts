/** A trigger's name and destination in words. */
import type { Schemas } from '#api';

export type Trigger = Schemas['Trigger'];

export function triggerName({ name, triggerId }: Pick<Trigger, 'name' | 'triggerId'>): string {
  return name === '' ? triggerId : name;
}

export function destinationOf({ destination: { url, group, queue, workflow } }: Pick<Trigger, 'destination'>): string {
  const target = url ?? (group === undefined ? `workflow ${workflow}` : `group ${group}`);
  return queue === undefined ? target : `${target}, through the queue ${queue}`;
}
