/**
 * Takes over queues, URL groups and schedules of another server with the same interface, which docs/guide/moving.md
 * explains: FROM_URL=… FROM_TOKEN=… TO_URL=… TO_TOKEN=… node docs/guide/move-queue.mjs
 * Doing it again changes nothing. The first call that is refused ends it.
 */
const { FROM_URL, FROM_TOKEN, TO_URL, TO_TOKEN } = process.env;

async function asked(url, token, path, init = {}) {
  const headers = { ...init.headers, Authorization: `Bearer ${token}` };
  const response = await fetch(`${url}${path}`, { ...init, headers });
  const text = await response.text();
  if (!response.ok) throw new Error(`${init.method ?? 'GET'} ${path}: ${response.status} ${text}`);
  return text === '' ? {} : JSON.parse(text);
}
const read = (path) => asked(FROM_URL, FROM_TOKEN, path);
const write = (path, headers, body, method = 'POST') => asked(TO_URL, TO_TOKEN, path, { method, headers, body });
const json = (path, value) => write(path, { 'Content-Type': 'application/json' }, JSON.stringify(value));

/** The options of a schedule as the headers that make it. What it does not have is left out. */
function headersOf(schedule) {
  const { retries, delay, timeout, label, labels = label === undefined ? [] : [label] } = schedule;
  const limits = ['parallelism', 'rate', 'period'].filter((name) => schedule[name] > 0);
  const options = {
    'Svc-Cron': schedule.cron,
    'Svc-Schedule-Id': schedule.scheduleId,
    'Svc-Method': schedule.method,
    'Svc-Retries': retries,
    'Svc-Delay': delay > 0 ? `${delay}s` : undefined,
    'Svc-Timeout': timeout > 0 ? `${timeout}s` : undefined,
    'Svc-Callback': schedule.callback,
    'Svc-Failure-Callback': schedule.failureCallback,
    'Svc-Retry-Delay': schedule.retryDelayExpression,
    'Svc-Queue-Name': schedule.queueName,
    'Svc-Label': labels.length > 0 ? labels.join(',') : undefined,
    'Svc-Flow-Control-Key': schedule.flowControlKey,
    'Svc-Flow-Control-Value':
      limits.length > 0 ? limits.map((name) => `${name}=${schedule[name]}`).join(', ') : undefined,
  };
  const headers = new Headers();
  for (const [name, value] of Object.entries(options)) if (value !== undefined) headers.set(name, String(value));
  const forwarded = {
    'Svc-Forward-': schedule.header,
    'Svc-Callback-Forward-': schedule.callbackHeader,
    'Svc-Failure-Callback-Forward-': schedule.failureCallbackHeader,
  };
  for (const [before, all = {}] of Object.entries(forwarded)) {
    for (const [name, values] of Object.entries(all)) {
      const isOfBody = name.toLowerCase() === 'content-type';
      // Callbacks are JSON, and say so by themselves.
      if (isOfBody && before !== 'Svc-Forward-') continue;
      for (const value of values) headers.append(isOfBody ? name : before + name, value);
    }
  }
  return Object.fromEntries(headers);
}

for (const { name, parallelism, paused } of await read('/v2/queues')) {
  await json('/v2/queues', { queueName: name, parallelism, paused });
  console.log(`queue ${name}`);
}
for (const { name, endpoints } of await read('/v2/topics')) {
  await json(`/v2/topics/${name}/endpoints`, { endpoints });
  console.log(`group ${name}`);
}
for (const schedule of await read('/v2/schedules')) {
  const { scheduleId, destination, body, bodyBase64, isPaused } = schedule;
  const bytes = bodyBase64 === undefined ? body : Buffer.from(bodyBase64, 'base64');
  await write(`/v2/schedules/${destination}`, headersOf(schedule), bytes);
  await write(`/v2/schedules/${scheduleId}/${isPaused ? 'pause' : 'resume'}`, {});
  console.log(`schedule ${scheduleId}`);
}
