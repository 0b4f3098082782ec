// Starts `keepstate lsp` and gives it the settings. Everything else is the server's: findings, hovers, actions, and the texts of the
// old side, which the client library shows under `keepstate://` as the protocol has it.

import * as vscode from 'vscode';
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from 'vscode-languageclient/node';

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel('keepstate', { log: true });
  context.subscriptions.push(
    output,
    vscode.commands.registerCommand('keepstate.showOutput', () => output.show()),
    vscode.commands.registerCommand('keepstate.restart', () => restart(output)),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration('keepstate.path')) {
        await restart(output);
      } else if (event.affectsConfiguration('keepstate')) {
        await client?.sendNotification('workspace/didChangeConfiguration', { settings: { keepstate: options() } });
      }
    }),
  );
  await start(output);
}

export async function deactivate(): Promise<void> {
  await stop();
}

/** The settings as the server takes them: those that are set. */
function options(): Record<string, unknown> {
  const settings = vscode.workspace.getConfiguration('keepstate');
  const out: Record<string, unknown> = {};
  for (const name of ['base', 'lock', 'target', 'config']) {
    const value = settings.get<string>(name, '').trim();
    if (value !== '') {
      out[name] = value;
    }
  }
  for (const name of ['schema', 'defines', 'lint', 'debounce']) {
    const value = settings.get<unknown>(name);
    if (value !== undefined && value !== null) {
      out[name] = value;
    }
  }
  return out;
}

async function start(output: vscode.LogOutputChannel): Promise<void> {
  const command = vscode.workspace.getConfiguration('keepstate').get<string>('path', '').trim() || 'keepstate';
  const server: ServerOptions = { command, args: ['lsp'] };
  const clientOptions: LanguageClientOptions = {
    documentSelector: ['file', 'untitled'].flatMap((scheme) => [
      { scheme, language: 'sql' },
      { scheme, language: 'flink-sql' },
    ]),
    initializationOptions: options(),
    outputChannel: output,
  };
  client = new LanguageClient('keepstate', 'keepstate', server, clientOptions);
  try {
    await client.start();
  } catch (error) {
    output.error(String(error));
    const choice = await vscode.window.showErrorMessage(
      `keepstate: \`${command} lsp\` could not be started. Install it, or set the path of the program.`,
      'Open the setting',
    );
    if (choice !== undefined) {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'keepstate.path');
    }
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  if (running?.isRunning()) {
    await running.stop();
  }
}

async function restart(output: vscode.LogOutputChannel): Promise<void> {
  await stop();
  await start(output);
}
