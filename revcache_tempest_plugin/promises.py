# SPDX-License-Identifier: Apache-2.0

"""Promises that clients rely on, one sentence each.

The name of a promise is its option in ``[revcache]``; the sentence is the help
of the option and the first line of a failure.
"""

PROMISES = {
    'token_revocation': (
        'A revoked token is rejected by GET and by HEAD, other tokens of the '
        'same user stay valid, and it cannot be exchanged for a new token.'
    ),
    'chain_revocation': (
        'Revoking the first token of an authentication also revokes every '
        'token obtained with it, and no other.'
    ),
    'user_tokens_revocation': (
        'DELETE /v3/users/{user_id}/tokens revokes every token of that user '
        'and no other.'
    ),
    'revocation_events': (
        'GET /v3/OS-REVOKE/events lists an event for every revoked token, '
        'and with since, in RFC 1123 format, those on or after that second.'
    ),
    'allow_expired': (
        'An expired token is accepted with allow_expired until it is revoked, '
        'which is possible before and after its expiry, and never '
        'afterwards.'
    ),
    'user_disable': (
        'The tokens of a disabled user are permanently rejected, even after '
        'the user is enabled again; tokens issued from then on are valid.'
    ),
    'password_change': (
        "Changing a user's password revokes every token that the user had."
    ),
    'project_disable': (
        'A token for a disabled project is rejected; once the project is '
        'enabled again, new tokens for it are valid.'
    ),
    'domain_disable': (
        'Every token for a project of a disabled domain and every token of a '
        'user of the domain is rejected; once the domain is enabled again, '
        'new tokens are valid.'
    ),
    'deletion': (
        'Every token of a deleted user, for a deleted project and for a '
        'deleted domain is rejected, and no other.'
    ),
    'grant_removal': (
        "A token is rejected once its user's last role on its project, its "
        'domain or the system is removed, including inherited roles and '
        'those of a group, and does not show removed roles; '
        "the user's tokens for other projects stay valid."
    ),
    'trust_removal': (
        'Every token of a trust is rejected once the trust is deleted.'
    ),
    'application_credential_removal': (
        'Every token of an application credential is rejected once the '
        'credential is deleted, and no other.'
    ),
    'oauth1_removal': (
        'Every token obtained with an OAuth 1.0a access token is rejected '
        'once that or its consumer is deleted, and no other.'
    ),
    'ec2_credentials': (
        'An EC2 credential can be used to obtain tokens while it exists and '
        'its user and project are enabled, and not with an old secret.'
    ),
    'current_names': (
        'A token shows the current names of its user, project and domain, '
        'and old names cannot be used to authenticate.'
    ),
    'current_catalog': (
        'Added, changed and deleted endpoints, individually or through an '
        'endpoint group, take effect in new tokens, in validated tokens and '
        'in GET /v3/auth/catalog.'
    ),
    'request_isolation': (
        "A request is only authorized by its own user's token, regardless of "
        'its service token and of concurrent requests.'
    ),
    'validation_rate': (
        'Validating a token does not slow down when other tokens are revoked.'
    ),
}
