/** The facts about a message: destination, related objects, settings. */
import type { ComponentChildren } from 'preact';
import { CopyButton } from '../../../parts/code.js';
import { duration } from '../../../parts/format.js';
import { Time } from '../../../parts/time.js';
import { type Links, useLinks } from '../links.js';
import type { Story } from './story.js';

type Fact = readonly [name: string, value: ComponentChildren];

export function StorySummary({ story }: { readonly story: Story }) {
  const links = useLinks();
  const facts = [...placeOf(story), ...belongings(story, links), ...settingsOf(story)].filter(
    ([, value]) => value !== undefined,
  );
  return (
    <dl class="facts">
      {facts.map(([name, value]) => [
        <dt key={`${name} name`}>{name}</dt>,
        <dd key={`${name} value`} dir="auto">
          {value}
        </dd>,
      ])}
    </dl>
  );
}

function placeOf({ messageId, message, nextDeliveryTime, isUnderWay }: Story): readonly Fact[] {
  const { method, url, createdAt, callerIp } = message;
  return [
    [
      'Id',
      <span key="id" class="row">
        <code>{messageId}</code>
        <CopyButton text={messageId} />
      </span>,
    ],
    ['Destination', `${method} ${url}`],
    ['Accepted', <Time key="at" at={createdAt} />],
    [
      'Next attempt',
      isUnderWay && nextDeliveryTime !== undefined ? <Time at={nextDeliveryTime} as="ago" /> : undefined,
    ],
    ['Caller', callerIp],
  ];
}

function belongings({ message, callbackOf }: Story, links: Links): readonly Fact[] {
  const { labels, queueName, topicName, endpointName, scheduleId, flowControlKey, priority } = message;
  const to = (text: string | undefined, href: string) => text && <a href={href}>{text}</a>;
  return [
    ['Callback of', callbackOf && to(callbackOf, links.message(callbackOf))],
    ['Labels', labels?.map((label) => [to(label, links.queue({ label })), ' '])],
    ['Queue', to(queueName, links.queue({ tab: 'queues' }))],
    ['URL group', topicName && [to(topicName, links.queue({ tab: 'groups' })), endpointName && `, ${endpointName}`]],
    ['Schedule', to(scheduleId, links.queue({ tab: 'schedules', ticks: scheduleId }))],
    ['Priority', to(priority, links.queue({ priority }))],
    ['Flow-control key', to(flowControlKey, links.queue({ tab: 'flow', search: flowControlKey }))],
  ];
}

function settingsOf({ message }: Story): readonly Fact[] {
  const { maxRetries, retryDelayExpression, whenStopped, callback, failureCallback, notBefore, createdAt } = message;
  return [
    ['Delay', notBefore > createdAt ? duration(notBefore - createdAt) : undefined],
    ['Retries', String(maxRetries)],
    ['Delay of retries', retryDelayExpression && <code>{retryDelayExpression}</code>],
    ['While its destination is stopped', whenStopped],
    ['Callback', callback],
    ['Failure callback', failureCallback],
  ];
}
