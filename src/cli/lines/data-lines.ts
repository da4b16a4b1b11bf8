/** Commands that call the public APIs of the running installation: keys, messages, runs, applications, triggers. */
import { type Command, Option } from 'commander';
import { dataVerb, group, type RunVerb, wholeOption } from '../parser.js';

const COUNT = (most: string) => wholeOption('--count <n>', most);

const PUBLISH = `
examples:
  millrace publish https://example.com/orders '{"order":1}' --header 'Content-Type: application/json'
  millrace publish https://example.com/later hello --delay 10m
  cat letter.txt | millrace publish https://example.com/letters - --queue letters`;

const TRIGGER = `
example:
  millrace runs trigger https://example.com/checkout '{"order":205}'`;

const CHECK = `
example:
  millrace workflows check --url https://staging.example.com --runs 'state=RUN_STARTED&label=orders'`;

const SCHEDULE = `
example:
  millrace schedule https://example.com/report --cron 'CRON_TZ=Europe/Vienna 0 8 * * 1' --id weekly`;

/** Calls of the public APIs of the running installation. */
export function addDataLines(root: Command, run: RunVerb): void {
  root.commandsGroup('keys:');
  dataVerb(root, 'get <key>', 'prints the string of a key', run);
  dataVerb(root, 'set <key> <value>', 'sets a key to a string', run).addOption(
    wholeOption('--ttl <seconds>', 'the time after which the key expires'),
  );
  dataVerb(root, 'keys [pattern]', 'prints the names of keys, of a pattern such as user:*', run).addOption(
    COUNT('at most so many names (100)'),
  );
  dataVerb(root, 'call <command...>', 'runs any command of the store and prints its reply as JSON', run);
  root.commandsGroup('messages and workflows:');
  dataVerb(root, 'publish <destination> [body]', 'sends a message to a URL or a group; body -: standard input', run)
    .option('--header <header...>', 'a header of the request: "Name: value"')
    .option('--delay <duration>', 'the time before the first attempt: 10s, 5m')
    .addOption(wholeOption('--retries <n>', 'the most retries'))
    .option('--priority <class>', 'highest, high, normal, low or lowest, within its queue or flow-control key')
    .addOption(
      new Option('--when-stopped <fate>', 'the fate while the destination is stopped; without: by the rules').choices([
        'wait',
        'dlq',
      ]),
    )
    .option('--queue <name>', 'the queue whose order the message keeps')
    .addHelpText('after', PUBLISH);
  dataVerb(root, 'messages', 'lists messages that are not delivered yet', run)
    .option('--state <state>', 'SCHEDULED, WAITING, DELIVERING or RETRYING')
    .addOption(COUNT('at most so many'));
  const dlq = group('dlq', 'list and retry messages that could not be delivered');
  const ofDlq: RunVerb = (name, asked) => run(`dlq ${name}`, asked);
  dataVerb(dlq, 'list', 'lists the entries of the dead-letter queue', ofDlq).addOption(COUNT('at most so many'));
  dataVerb(dlq, 'retry [id]', 'sends an entry again', ofDlq).option('--all', 'sends every entry again');
  root.addCommand(dlq);
  root.addCommand(runsLine(run));
  root.addCommand(workflowsLine(run));
  root.addCommand(appsLine(run));
  root.addCommand(destinationsLine(run));
  root.addCommand(triggersLine(run));
  dataVerb(root, 'logs', 'prints the newest events of messages', run)
    .option('-f, --follow', 'continues with new events until Ctrl-C')
    .addOption(COUNT('the number of earlier events (100)'));
  dataVerb(root, 'schedules', 'lists schedules with their next time', run);
  dataVerb(
    root,
    'schedule <destination> [body]',
    'sends a message by a timetable, and prints the id of the schedule',
    run,
  )
    .requiredOption('--cron <expression>', 'the timetable, in UTC unless it begins with CRON_TZ=')
    .option('--id <id>', 'the id of the schedule; an existing one is replaced')
    .option('--queue <name>', 'the queue whose order the messages keep')
    .option('--header <header...>', 'a header of the request: "Name: value"')
    .addHelpText('after', SCHEDULE);
}

function runsLine(run: RunVerb): Command {
  const workflows = group('runs', 'start, list, show, cancel and restart workflow runs');
  const ofRuns: RunVerb = (name, asked) => run(`runs ${name}`, asked);
  dataVerb(workflows, 'list', 'lists the newest runs', ofRuns)
    .option('--state <state>', 'RUN_STARTED, RUN_SUCCESS, RUN_FAILED or RUN_CANCELED')
    .addOption(COUNT('at most so many (10)'));
  dataVerb(workflows, 'show <run>', 'prints a run with its steps and their results', ofRuns);
  dataVerb(
    workflows,
    'trigger <url> [body]',
    'starts a run at an endpoint, and prints its id; body -: standard input',
    ofRuns,
  )
    .option('--header <header...>', 'a header of the request: "Name: value"')
    .addHelpText('after', TRIGGER);
  dataVerb(workflows, 'rerun <run>', 'starts a run with the results of another one, and prints the new id', ofRuns)
    .option('--from-step <step>', 'the number or name of the first step to execute (0, the payload)')
    .option('--input <text>', 'another payload')
    .option('--step-result <json>', 'the result of that step, which is then not executed')
    .option('--url <url>', 'another endpoint');
  dataVerb(workflows, 'cancel <run>', 'ends a run before its next step', ofRuns);
  return workflows;
}

function appsLine(run: RunVerb): Command {
  const apps = group('apps', 'send webhooks to customers');
  const ofApps: RunVerb = (name, asked) => run(`apps ${name}`, asked);
  dataVerb(apps, 'list', 'lists applications with the number of their endpoints', ofApps).option(
    '--search <text>',
    'a part of the name, the uid or the id',
  );
  dataVerb(apps, 'create <name>', 'makes an application, and prints its id', ofApps).option(
    '--uid <uid>',
    'your id of the customer, which names the application, too',
  );
  dataVerb(apps, 'delete <app>', 'deletes an application with its endpoints', ofApps);
  dataVerb(apps, 'endpoints <app>', 'lists the endpoints of an application', ofApps);
  dataVerb(apps, 'send <app> <type> [payload]', 'sends an event to the endpoints that take its type', ofApps).option(
    '--id <id>',
    'the webhook-id; the same id is accepted once',
  );
  dataVerb(apps, 'portal <app>', 'prints a link to the portal of an application', ofApps)
    .option('--expires-in <duration>', 'how long the link is valid (1h)')
    .option('--read-only', 'the holder makes no changes');
  dataVerb(apps, 'revoke <app>', 'revokes the links to the portal of an application', ofApps).option(
    '--link <link>',
    'only this link: its id, token or URL',
  );
  dataVerb(apps, 'enable <app> <endpoint>', 'lets a stopped endpoint have its messages again', ofApps).option(
    '--replay',
    'sends its messages of the DLQ again, too',
  );
  return apps;
}

function triggersLine(run: RunVerb): Command {
  const triggers = group('triggers', 'send the changes of keys to a destination, or read them');
  const ofTriggers: RunVerb = (name, asked) => run(`triggers ${name}`, asked);
  dataVerb(triggers, 'list', 'lists triggers with their lags', ofTriggers);
  dataVerb(triggers, 'create <destination>', 'makes a trigger, and prints its id', ofTriggers)
    .requiredOption('--pattern <pattern...>', 'patterns of keys: order:*')
    .requiredOption('--events <events>', 'kinds of changes: set,del,expired')
    .option('--name <name>', 'its name')
    .option('--filter <filter>', 'a filter on the new value: status = "paid"')
    .option('--from <moment>', 'snapshot, or an instant like 2026-05-01T12:00:00Z (now)')
    .option('--database <database>', 'the name or id of the database (the oldest)')
    .option('--options <option...>', 'an option of the messages: "Svc-Retries: 5"');
  dataVerb(triggers, 'show <trigger>', 'prints a trigger', ofTriggers);
  dataVerb(triggers, 'pause <trigger>', 'sends no changes until it is resumed', ofTriggers);
  dataVerb(triggers, 'resume <trigger>', 'continues at the position of the trigger', ofTriggers);
  dataVerb(triggers, 'skip <trigger>', 'skips the changes before a moment', ofTriggers).option(
    '--to <moment>',
    'an instant like 2026-05-01T12:00:00Z (now)',
  );
  dataVerb(triggers, 'delete <trigger>', 'deletes a trigger', ofTriggers);
  dataVerb(triggers, 'feed <trigger>', 'prints the records of a trigger, one on each line', ofTriggers)
    .option('--from <moment>', 'now, or an instant (the start of the trigger)')
    .option('--cursor <cursor>', 'the cursor after which it begins')
    .option('-f, --follow', 'continues with new records until Ctrl-C');
  return triggers;
}

function destinationsLine(run: RunVerb): Command {
  const destinations = group('destinations', 'stop destinations that fail, and start them again');
  const ofDestinations: RunVerb = (name, asked) => run(`destinations ${name}`, asked);
  dataVerb(destinations, 'list', 'lists destinations that fail or are stopped', ofDestinations).option(
    '--state <state>',
    'closed, open or disabled',
  );
  dataVerb(destinations, 'enable <url>', 'lets a destination have its messages again', ofDestinations).option(
    '--retry',
    'sends its entries of the DLQ again, too',
  );
  dataVerb(destinations, 'disable <url>', 'stops a destination until it is enabled', ofDestinations);
  dataVerb(destinations, 'rules', 'prints the rules of circuit breakers, or sets them', ofDestinations)
    .option('--on', 'sets the rules; options that are left out have their usual values')
    .option('--off', 'removes the rules: no destination is stopped')
    .addOption(wholeOption('--failures <n>', 'consecutive failures that stop a destination (10)'))
    .addOption(wholeOption('--seconds <n>', 'the time over which they stretch (60)'))
    .addOption(wholeOption('--probe-seconds <n>', 'the wait before the first probe (60)'))
    .addOption(wholeOption('--disable-after-seconds <n>', 'the time of failures that disables (432000)'))
    .option('--messages <fate>', 'wait or dlq: the messages of a stopped destination (wait)')
    .option('--notify-url <url>', 'gets a message when a destination is stopped, disabled or working again');
  return destinations;
}

function workflowsLine(run: RunVerb): Command {
  const workflows = group('workflows', 'check a new version of a workflow before it is deployed');
  const ofWorkflows: RunVerb = (name, asked) => run(`workflows ${name}`, asked);
  dataVerb(workflows, 'check', 'plays recorded runs to an endpoint, and prints those that it would break', ofWorkflows)
    .requiredOption('--url <url>', 'the endpoint of the new version; without a path, with the path of each run')
    .requiredOption('--runs <filter>', 'the URL of a workflow, the id of a run, or filters of the runs')
    .addOption(COUNT('at most so many, the newest first (100)'))
    .option('--execute-steps', 'the endpoint executes the code of each step')
    .addHelpText('after', CHECK);
  return workflows;
}

/** An account is named by its id, name, e-mail or UUID; the default is the only person's. */
