/**
 * Names messages of runs for specs, and describes their events in short form. Messages that the server makes are
 * named by their purpose: `r#2` delivers step 2, `r#c2 result` the outcome of a call, `r failure` the failure of run
 * `r`.
 */
import type { QueueEvent, QueueEventOf } from '../../src/domain/queue/index.js';
import type { RunPart } from '../../src/domain/queue/runs/index.js';
import type { MessageId } from '../../src/kernel/index.js';
import { brief } from './queue-spec.js';
import { message } from './workflow-items.js';

export class MessageNames {
  /** Names by id and ids by name; if two messages have a name, the later one has it. */
  readonly #names: Map<string, string>;
  readonly #ids: Map<string, string>;

  /** @param known names of another instance, which are copied */
  constructor(known?: MessageNames) {
    this.#names = new Map(known === undefined ? [] : known.#names);
    this.#ids = new Map(known === undefined ? [] : known.#ids);
  }

  of(id: string): string {
    return this.#names.get(id) ?? id;
  }

  idOf(name: string): MessageId {
    return message(this.#ids.get(name) ?? name);
  }

  /** @returns the new name of the message */
  note({ id, workflow }: QueueEventOf<'MessageAccepted'>): string {
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const name = id.startsWith('msg_') && workflow !== undefined ? this.#roleOf(workflow) : id;
    this.#names.set(id, name);
    this.#ids.set(name, id);
    return name;
  }

  #roleOf(part: RunPart): string {
    switch (part.role) {
      case 'step':
        return `${part.runId}#${part.step?.stepId ?? 0}`;
      case 'call':
        return `${part.runId}#c${part.step.stepId}`;
      case 'result':
        return `${this.of(part.callId)} result`;
      default:
        return `${part.runId} failure`;
    }
  }

  /** Describes an event in short form. */
  tell(event: QueueEvent): string {
    switch (event.type) {
      case 'MessageAccepted': {
        const name = this.note(event);
        return event.workflow?.role === 'step' ? `accepted ${name} at ${event.workflow.index}` : `accepted ${name}`;
      }
      case 'RunStarted':
        return `run ${event.runId} started`;
      case 'RunReconfigured':
        return `run ${event.runId} reconfigured`;
      case 'RunEnded':
        return `run ${event.runId} ${event.state}`;
      case 'WaiterAdded':
        return `${event.waiter.runId} waits for ${event.waiter.eventId}`;
      case 'WaiterRemoved':
        return `${event.runId} step ${event.stepId} ${event.why}`;
      case 'EventStored':
        return `${event.eventId} kept for ${event.runId}`;
      case 'StoredEventTaken':
        return `${event.eventId} taken by ${event.runId}`;
      case 'InvokeStarted':
        return `${event.runId} step ${event.step.stepId} invoked ${event.childRunId}`;
      case 'InvokeEndedLate':
        return `late for ${event.runId} step ${event.stepId}`;
      case 'MessageFailed':
        return `gave up ${this.of(event.id)}`;
      case 'FailureFunctionEnded':
        return `failure function of ${event.runId}: ${event.state ?? 'none'}`;
      default:
        return 'id' in event ? brief({ ...event, id: this.of(event.id) } as QueueEvent) : brief(event);
    }
  }
}
