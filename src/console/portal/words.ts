/** The texts of the portal; the operator's file may replace each of them. */
import { signal } from '@preact/signals';

const OWN = {
  title: 'Webhooks',
  endpoints: 'Endpoints',
  messages: 'Messages',
  events: 'Events',
  add: 'Add endpoint',
  noEndpoints: 'No endpoints yet',
  noEndpointsHint: 'Add the address of your program to get webhooks.',
  noMessages: 'No messages yet',
  noEvents: 'No event types yet',
  over: 'This link is no longer valid',
  overHint: 'Open this page again from the application that led you here.',
  url: 'Address',
  description: 'Description',
  types: 'Event types',
  typesHint: 'Without a choice the endpoint gets all events.',
  allTypes: 'All events',
  filter: 'Filter',
  filterHint: 'An expression on the payload, such as total > 100.',
  headers: 'Headers',
  headersHint: 'One on each line, as Name: value.',
  disabled: 'Disabled',
  stopped: 'Stopped',
  stoppedHint: 'Deliveries failed. They start again when the address works.',
  probing: 'A delivery is tried now.',
  disabledHint: 'It failed for a long time or answered 410. No delivery is tried until it is enabled.',
  bySender: 'The sender has disabled this address.',
  since: 'Failing since',
  nextTry: 'Next try',
  lastError: 'Last error',
  waiting: 'Messages that wait',
  restart: 'Enable and send missed messages',
  save: 'Save',
  edit: 'Edit',
  delete: 'Delete',
  deleteQuestion: 'Its waiting messages are cancelled.',
  enable: 'Enable',
  disable: 'Disable',
  secrets: 'Secrets',
  show: 'Show secrets',
  rotate: 'Rotate',
  rotateQuestion: 'The present secret still signs for a day.',
  signsUntil: 'signs until',
  test: 'Send test',
  tested: 'A test event was sent.',
  replay: 'Send again',
  replayFailed: 'Send all failed again',
  replayed: 'Sent again',
  all: 'All',
  failed: 'Failed',
  more: 'More',
  refresh: 'Refresh',
  payload: 'Payload',
  answer: 'Answer',
  attempt: 'Attempt',
  example: 'Example',
  schema: 'Schema',
};
export type PortalWord = keyof typeof OWN;

const given = signal<Readonly<Record<string, string>>>({});

export function word(name: PortalWord): string {
  return given.value[name] ?? OWN[name];
}

export function useWords(words: Readonly<Record<string, string>>): void {
  given.value = words;
}
