/** The types that the tabs of the queue page share. */
import type { Schemas } from '#api';

export type Schedule = Schemas['Schedule'];

export type Flow = Schemas['FlowControl'];

export interface TabProps {
  /** The queue account. */
  readonly account: string;
}
