# SPDX-License-Identifier: Apache-2.0

"""What a client may rely on, one sentence each.

A promise's name is its option in ``[revcache]``, its sentence is that
option's help and the first line of a failure.
"""

PROMISES = {
    'token_revocation': (
        'A revoked token is refused by GET and by HEAD, other tokens of the '
        'same user stay valid, and nobody can get a new token with it.'
    ),
    'chain_revocation': (
        'Revoking the token that a user logged in with also revokes every '
        'token made from it, and no other.'
    ),
    'user_tokens_revocation': (
        'DELETE /v3/users/{user_id}/tokens revokes every token of that user '
        'and of nobody else.'
    ),
    'revocation_events': (
        'GET /v3/OS-REVOKE/events lists an event for every token revoked, '
        'and with since, in RFC 1123 form, those on or after that second.'
    ),
    'allow_expired': (
        'A token that has expired is accepted with allow_expired until it is '
        'revoked, which it can be before and after it expires, and never '
        'again.'
    ),
    'user_disable': (
        'The tokens of a disabled user are refused for good, also after the '
        'user is enabled again; tokens issued from then on are valid.'
    ),
    'password_change': (
        "Changing a user's password revokes every token that the user had."
    ),
    'project_disable': (
        'A token for a disabled project is refused; once the project is '
        'enabled again, new tokens for it are valid.'
    ),
    'domain_disable': (
        'Every token for a project of a disabled domain and every token of '
        "such a domain's user is refused; once the domain is enabled again, "
        'new tokens are valid.'
    ),
    'deletion': (
        'Every token of a deleted user, for a deleted project and for a '
        'deleted domain is refused, and no other.'
    ),
    'grant_removal': (
        "A token is refused once its user's last role on its project, its "
        'domain or the system is taken away, inherited ones and those of a '
        'group included, and shows no role that was; '
        "the user's tokens for other projects stay valid."
    ),
    'trust_removal': (
        'Every token that a trust gave is refused once the trust is deleted.'
    ),
    'application_credential_removal': (
        'Every token that an application credential gave is refused once '
        'the credential is deleted, and no other.'
    ),
    'oauth1_removal': (
        'Every token that an OAuth 1.0a access token gave is refused once '
        'that or its consumer is deleted, and no other.'
    ),
    'ec2_credentials': (
        'An EC2 credential gives tokens while it exists and its user and '
        'project are enabled, and to nobody who signs with an old secret.'
    ),
    'current_names': (
        'A token shows the names that its user, project and domain have now, '
        'and nobody logs in by a name of before.'
    ),
    'current_catalog': (
        'Endpoints that are added, changed or deleted, one by one or by a '
        'group of endpoints, show in new tokens, in validated tokens and in '
        'GET /v3/auth/catalog.'
    ),
    'request_isolation': (
        "A request is judged by its own user's token alone, whatever service "
        'token comes with it and whatever other requests are answered at the '
        'same time.'
    ),
    'validation_rate': (
        'Validating a token takes no longer because other tokens have been '
        'revoked.'
    ),
}
